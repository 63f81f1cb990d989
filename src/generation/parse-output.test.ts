import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseOutput } from './parse-output.ts';

const document = {
  executive_summary: 'Bakers say "no" to {"half"} answers.\nA second line — with dashes.',
  'risks_&_mitigation': ['One', 'Two'],
  code: 'Look:\n```json\n{"content": {"executive_summary": "a trap"}}\n```\nEnd.',
  features: [{ name: 'Login', criteria: [] }],
};
const whole = JSON.stringify({ content: document }, null, 2);
const contentOf = (text: string, options = {}): unknown => {
  const parsed = parseOutput(text, options);
  return parsed.kind === 'document' ? parsed.content : parsed;
};

describe('parseOutput finds the document', () => {
  test.each([
    ['as it is', whole],
    ['without a wrapper', JSON.stringify(document)],
    ['in a fence', `\`\`\`json\n${whole}\n\`\`\``],
    ['in a fence that is not closed', `\`\`\`json\n${whole}\n`],
    ['with prose around', `Here is {your} document:\n\n${whole}\n\nLet me know {if} it fits.`],
    ['behind an example', `As in {"content": {"a": "b"}}:\n${whole}`],
    ['before an example', `${whole}\nYou could add {"x": "y`],
    ['behind a byte order mark', `\ufeff${whole}`],
    ['behind thoughts', `<think>Is {"a": 1} enough? No.</think>${whole}`],
    ['in a list', `[${whole}]`],
    ['written as text in the text', JSON.stringify({ content: JSON.stringify(document) })],
    ['under its key', JSON.stringify({ business_case: document })],
    ['with bare line breaks in strings', whole.replaceAll('\\n', '\n')],
    ['with a comma too many', whole.replace('"Two"\n', '"Two",\n')],
    ['with single quotes and bare keys', "{executive_summary: 'Said', code: 'x'}"],
    ['with Python words', whole.replace('"content"', '"continuation_needed": False, "content"')],
  ])('%s', (name, text) => {
    const expected = name.startsWith('with single')
      ? { executive_summary: 'Said', code: 'x' }
      : document;
    expect(contentOf(text, { sections: Object.keys(document) })).toEqual(expected);
  });

  test('keeps what stands beside the wrapper, and what is called content by contract', () => {
    expect(contentOf('{"content":{"a":"1"},"b":"2","stop_reason":"complete"}')).toEqual({
      a: '1',
      b: '2',
    });
    expect(contentOf('{"content":{"a":"1"},"b":"2"}', { sections: ['content', 'b'] })).toEqual({
      content: { a: '1' },
      b: '2',
    });
  });

  test('reports what the model says about going on', () => {
    const text = '{"content":{"a":"1"},"continuation_needed":true,"resume_cursor":{"k":1}}';
    expect(parseOutput(text)).toMatchObject({
      content: { a: '1' },
      control: { continuationNeeded: true, stopReason: null, resumeCursor: { k: 1 } },
    });
  });

  test('a key that comes twice keeps both values', () => {
    const text = '{"a":["1"],"t":"one","a":["1","2"],"t":"two","r":{"x":"1"},"r":{"y":"2"}}';
    expect(parseOutput(text)).toMatchObject({
      content: { a: ['1', '2'], t: 'one\n\ntwo', r: { x: '1', y: '2' } },
      notes: [expect.stringContaining('twice'), expect.anything(), expect.anything()],
    });
  });

  test('an unescaped quote is repaired, and only then', () => {
    const parsed = parseOutput('{"content": {"a": "He said "yes" twice", "b": ["x"]}}');
    expect(parsed).toMatchObject({
      kind: 'document',
      content: { a: 'He said "yes" twice', b: ['x'] },
      notes: [expect.stringContaining('repaired')],
    });
  });
});

describe('parseOutput refuses', () => {
  test.each([
    ['', 'empty'],
    [' \n\t', 'empty'],
    ["I'm sorry, I can't help with that.", 'no JSON object'],
    ['<html><body>gateway</body></html>', 'no JSON object'],
    ['"just a text"', 'no JSON object'],
    ['[1, 2, 3]', 'no JSON object'],
  ])('%j', (text, problem) => {
    expect(parseOutput(text)).toMatchObject({
      kind: 'unusable',
      problem: expect.stringContaining(problem),
    });
  });

  test('a document that is nested without end', () => {
    const deep = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`;
    expect(parseOutput(deep).kind).toBe('unusable');
  });

  test.each([
    ['{"a": \'x\', "b": {"c": 1}, "d": "unfin'],
    ['{"a": \'x\', "b": {"c": 1}'],
    ['{"a": "He said "yes"", "b": {"c": 1}'],
  ])('to close what is both wrong and cut: %s', (text) => {
    expect(parseOutput(text).kind).toBe('truncated');
  });

  test('to repair anything that the provider says was cut', () => {
    const wrong = "{'a': 'b'}";
    expect(parseOutput(wrong).kind).toBe('document');
    expect(parseOutput(wrong, { finished: false }).kind).toBe('truncated');
    expect(parseOutput('Let me think', { finished: false }).kind).toBe('truncated');
    expect(parseOutput('{"a":"b"}', { finished: false }).kind).toBe('document');
  });
});

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return [...Object.keys(value), ...Object.values(value).flatMap(stringsIn)];
}

describe('parseOutput on hostile text', () => {
  const json = fc.dictionary(
    fc.string({ maxLength: 12 }),
    fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 3 })),
    { minKeys: 1, maxKeys: 6, noNullPrototype: true },
  );
  const packing = fc.constantFrom(
    (text: string) => text,
    (text: string) => `\`\`\`json\n${text}\n\`\`\``,
    (text: string) => `Here it is:\n${text}\nDone.`,
  );

  test('a cut is never taken for the whole, wherever it falls', () => {
    fc.assert(
      fc.property(
        json,
        packing,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (value, pack, share) => {
          const text = JSON.stringify({ content: value }, null, 1);
          const packed = pack(text);
          const start = packed.indexOf(text);
          const cut = start + 1 + Math.floor(share * (text.length - 2));
          expect(parseOutput(packed.slice(0, cut)).kind).toBe('truncated');
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('any change to a real answer gives a document or a reason, and never a throw', () => {
    const edit = fc.record({
      at: fc.nat(),
      remove: fc.nat(40),
      insert: fc.string({ maxLength: 8 }),
    });
    fc.assert(
      fc.property(json, fc.array(edit, { maxLength: 4 }), (value, edits) => {
        let text = JSON.stringify({ content: { ...document, ...value } });
        for (const { at, remove, insert } of edits) {
          const from = at % text.length;
          text = text.slice(0, from) + insert + text.slice(from + remove);
        }
        const parsed = parseOutput(text);
        if (parsed.kind === 'document') {
          for (const said of stringsIn(parsed.content)) {
            expect(said.isWellFormed() && !said.includes('\0')).toBe(true);
          }
        } else expect(parsed.problem).not.toBe('');
      }),
      { numRuns: 5_000 },
    );
  });

  test('prototypes stay as they are', () => {
    const text = '{"content":{"__proto__":{"polluted":1},"constructor":{"x":"1"},"a":"b"}}';
    const parsed = contentOf(text) as Record<string, unknown>;
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    expect(Object.keys(parsed)).toEqual(['constructor', 'a']);
  });

  test('NUL and halves of characters do not get through', () => {
    expect(contentOf('{"a\\u0000":"x\\u0000\u0000y\\ud800z\ud83d"}')).toEqual({
      a: 'xy\ufffdz\ufffd',
    });
  });

  test.each([
    ['one string of 5 MB', JSON.stringify({ content: { a: 'x "quoted" \n'.repeat(400_000) } })],
    [
      'many records',
      JSON.stringify({
        content: { a: Array.from({ length: 60_000 }, () => ({ b: 'some words', c: [1] })) },
      }),
    ],
    ['prose full of braces', '{"{" }'.repeat(300_000)],
    ['nothing but openings', '{"a":'.repeat(300_000)],
    ['a wrong text', `{"a": "b" c, ${'"k": "some words", '.repeat(60_000)}"z": 1}`],
  ])('takes time in proportion to its length for %s', (name, text) => {
    parseOutput(text);
    const start = performance.now();
    parseOutput(text);
    const perMegabyte = (performance.now() - start) / (text.length / 1e6);
    console.log(`${name}: ${perMegabyte.toFixed(0)} ms/MB`);
    // Alone it takes at most 50; what is quadratic takes minutes, on any machine.
    expect(perMegabyte).toBeLessThan(5_000);
  });
});

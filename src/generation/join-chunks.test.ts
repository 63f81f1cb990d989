import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { joinChunk, joinChunks } from './join-chunks.ts';

const prose = fc.lorem({ maxCount: 60 });
const anyText = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 400 });
const jsonText = fc
  .dictionary(fc.lorem({ maxCount: 2 }), fc.oneof(prose, fc.array(prose, { maxLength: 4 })), {
    minKeys: 1,
    maxKeys: 5,
    noNullPrototype: true,
  })
  .map((content) => JSON.stringify({ content }, null, 2));

/** Cuts the text at random places; every piece but the first repeats some of what came before. */
function cut(text: string, places: readonly number[], repeats: readonly number[]): string[] {
  const at = [...new Set([0, ...places.map((place) => place % text.length)])];
  const starts = at.toSorted((a, b) => a - b);
  return starts.map((start, n) => {
    const back = n === 0 ? 0 : Math.min(repeats[n % repeats.length]!, start);
    return text.slice(start - back, starts[n + 1] ?? text.length);
  });
}

const join = (texts: readonly string[]) =>
  joinChunks(texts.map((text) => ({ text, finished: false })));

const words = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, n) => `word${from + n}`).join(' ');

describe('joinChunks', () => {
  const places = fc.array(fc.nat(), { maxLength: 6 });

  test('gives back any text that was cut anywhere', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, prose, jsonText), places, (text, at) => {
        const chunks = cut(text, at, [0]);
        expect(join(chunks)).toEqual({ text, added: chunks });
      }),
      { numRuns: 1_000 },
    );
  });

  test('gives back a document whose pieces repeat the end of what came before', () => {
    const repeats = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 30, max: 300 })), {
      minLength: 1,
      maxLength: 5,
    });
    fc.assert(
      fc.property(jsonText, places, repeats, (text, at, back) => {
        const whole = join(cut(text, at, back));
        expect(whole.text).toBe(text);
        expect(whole.added.join('')).toBe(text);
      }),
      { numRuns: 1_000 },
    );
  });

  test('takes records of one pattern for no repetition, wherever the cut falls', () => {
    const scores = ['security', 'cost', 'time_to_market'].map((dimension, n) => ({
      dimension,
      weight: 0.1,
      value: 8 + n / 2,
      rationale: words(n * 9, n * 9 + 8),
    }));
    const text = JSON.stringify({ content: { scores } }, null, 4);
    for (let at = 1; at < text.length; at++) {
      expect(join([text.slice(0, at), text.slice(at)]).text).toBe(text);
    }
  });

  test('takes nothing of a chunk that starts anew', () => {
    const text = JSON.stringify({
      content: { summary: words(0, 40), risks: words(40, 60) },
    });
    const [one, two, three] = [text.slice(0, 120), text.slice(120, 200), text.slice(200)];
    const chunks = [one, one, two, text.slice(0, 60), three];
    expect(join(chunks)).toEqual({ text, added: [one, '', two, '', three] });
  });
});

describe('joinChunk', () => {
  const start = '{"content": {"summary": "The bakery needs one system of record for stock, pri';

  test('a repetition too short to tell is cut away where the syntax needs it', () => {
    expect(joinChunk('{"content": {"a": "pain', '"painful"}}')).toMatchObject({
      text: '{"content": {"a": "painful"}}',
    });
    expect(joinChunk('{"content": {"a"', '"a": "b"}}')).toMatchObject({
      text: '{"content": {"a": "b"}}',
    });
    expect(joinChunk('{"content": {"a": "x", "b', '"b": "y"}}')).toMatchObject({
      text: '{"content": {"a": "x", "b": "y"}}',
    });
  });

  test('a word that is meant twice stays twice', () => {
    expect(joinChunk('{"a": "that ', 'that was so"}')).toMatchObject({
      text: '{"a": "that that was so"}',
    });
    expect(joinChunk(`{"a":${' '.repeat(40)}`, `${' '.repeat(40)}"b"}`)).toMatchObject({
      repeated: 0,
    });
  });

  test('talk before a repetition goes with it', () => {
    const chunk = `Continuing from where I left off:\n\n${start.slice(-45)}ces and orders."}}`;
    expect(joinChunk(start, chunk)).toMatchObject({
      text: `${start}ces and orders."}}`,
    });
  });

  test('a fence around the continuation is packing', () => {
    expect(joinChunk('{"a": "b",', '```json\n"c": "d"}')).toMatchObject({
      text: '{"a": "b","c": "d"}',
    });
    const inString = joinChunk('{"a": "Run:', '```sh\nls"}');
    expect(inString).toMatchObject({ text: '{"a": "Run:```sh\nls"}' });
  });

  test('a new start in other words is a restart as well', () => {
    const anew = '{"content": {"summary": "A different text altogether, from the top.';
    expect(joinChunk(start, anew)).toEqual({ kind: 'refused', text: start });
  });

  test('a new start that holds everything so far and goes on is progress', () => {
    const more = `${start}ces."}}`;
    expect(joinChunk(start, more)).toMatchObject({ kind: 'joined', text: more, added: 7 });
    const long = `{"a": "${'many words '.repeat(2_000)}`;
    expect(joinChunk(long, `${long}end"}`)).toMatchObject({ text: `${long}end"}` });
  });

  test('a chunk that adds nothing says so', () => {
    expect(joinChunk(start, start.slice(-40))).toMatchObject({ text: start, added: 0 });
  });

  test.each(['{"content": {"nodes": "one', '{"nodes": ["one"', '{"nod', '{"nodes"'])(
    'another document is refused behind %s',
    (open) => {
      const other = '{"recommendations": {"analysis": "Another document."}}';
      expect(joinChunk(open, other)).toEqual({ kind: 'refused', text: open });
    },
  );

  test('another document is refused where an object may stand and the model ended it', () => {
    const open = '{"content": {"nodes": [{"title": "One"}, ';
    const other = '{"phases": [], "objective": "Another document."}';
    expect(joinChunk(open, other, true)).toEqual({ kind: 'refused', text: open });
  });

  test('an entry of a list is joined, also where the model ended behind it', () => {
    const open = '{"content": {"nodes": [{"title": "One", "work": "Ask"}, ';
    const entry = '{"title": "Two", "work": "Do"}';
    expect(joinChunk(open, entry, true)).toMatchObject({ text: open + entry });
    expect(joinChunk(open, '{"phase": "New"}')).toMatchObject({ kind: 'joined' });
  });
});

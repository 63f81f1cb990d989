import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { renderMarkdown } from './render-markdown.ts';

const schema = {
  type: 'object',
  properties: {
    summary: { type: 'string' },
    options: {
      type: 'array',
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, why: { type: 'string' }, cost: {} },
      },
    },
    'risks_&_mitigation': { type: 'array', items: { type: 'string' } },
    status: { type: 'object', properties: { done: { type: 'array' } } },
    open_questions: { type: 'array' },
  },
};
const template = `# {{ document.title }}

{{ content.summary | markdown }}
{% for option in content.options %}
## {{ option.name }}

{{ option.why | markdown }}
{% endfor %}
{{ content["risks_&_mitigation"] | markdown }}
`;
const render = (content: Record<string, unknown>, over: object = {}) =>
  renderMarkdown({ template, schema, content, document: { title: 'Plan' }, ...over });

const letters = (text: string): string => text.replace(/&lt;|[^\p{L}\p{N}]/gu, '').toLowerCase();

describe('renderMarkdown', () => {
  test('lists become lists, records sub-sections, absent sections nothing', () => {
    const { markdown, appended } = render({
      summary: 'We build.',
      options: [
        { name: 'A', why: 'Cheap.' },
        { name: 'B', why: 'Fast.' },
      ],
      'risks_&_mitigation': ['One', 'Two'],
    });
    expect(markdown).toBe(
      '# Plan\n\nWe build.\n\n## A\n\nCheap.\n\n## B\n\nFast.\n\n- One\n- Two\n',
    );
    expect(appended).toEqual([]);
  });

  test('a template can ask whether there is anything to print', () => {
    const asking = `# {{ document.title }}
{% assign text = content.summary | markdown %}{% if text != '' %}
## Summary

{{ text }}
{% endif %}`;
    expect(render({}, { template: asking }).markdown).toBe('# Plan\n');
    expect(render({ summary: 'So.' }, { template: asking }).markdown).toBe(
      '# Plan\n\n## Summary\n\nSo.\n',
    );
  });

  test('what has no place in the template gets one at the end', () => {
    const { markdown, appended } = render({
      summary: 'We build.',
      options: [{ name: 'A', why: 'Cheap.', cost: 4711 }],
      status: { done: ['Idea'] },
      invented_by_the_model: [
        { key: 'x', value: 1 },
        { key: 'y', value: 2 },
      ],
    });
    expect(appended).toEqual(['Options', 'Status', 'Invented by the model']);
    expect(markdown).toContain('## Options\n\n### A\n\n**Cost:** 4711');
    expect(markdown).toContain('## Status\n\n**Done:**\n\n- Idea');
    expect(markdown).toContain('| Key | Value |\n| --- | --- |\n| x | 1 |\n| y | 2 |');
  });

  test('what the contract keeps for code gets no place', () => {
    const { options } = schema.properties;
    const { name, why } = options.items.properties;
    const items = { type: 'object', properties: { name, why, cost: { 'x-shown': false } } };
    const kept = { type: 'array', 'x-shown': false };
    const own = { ...schema.properties, options: { ...options, items }, status: kept };
    const { markdown, appended } = render(
      {
        summary: 'We build.',
        options: [{ name: 'One', why: 'Cheap.', cost: 'F7' }],
        status: ['F8'],
      },
      { schema: { ...schema, properties: own } },
    );
    expect(appended).toEqual([]);
    expect(markdown).not.toMatch(/F[78]/);
  });

  test('what a template looks at without printing it counts as left out', () => {
    const looking = '# T\n{% if content.summary %}There is one.{% endif %}';
    expect(render({ summary: 'Here it is.' }, { template: looking }).appended).toEqual(['Summary']);
    const cut = '# T\n{{ content.summary | truncate: 5 }}';
    expect(render({ summary: 'Here it is, at length.' }, { template: cut }).markdown).toContain(
      '## Summary\n\nHere it is, at length.',
    );
  });

  test('a section of another shape than the contract says is not lost either', () => {
    const { markdown } = render({
      summary: ['As', 'list'],
      options: 'Only prose.',
      status: 'Fine.',
    });
    expect(markdown).toContain('- As\n- list');
    expect(markdown).toContain('## Options\n\nOnly prose.');
    expect(markdown).toContain('## Status\n\nFine.');
  });

  test('open questions of all sections are gathered', () => {
    const { markdown, openQuestions } = render({
      options: [{ name: 'A', why: 'x', open_questions: ['Who pays?'] }],
      open_questions: ['When? Assumption: In May.', ''],
    });
    expect(openQuestions).toEqual([
      { question: 'Who pays?', where: ['Options', 'A'], assumption: null },
      { question: 'When?', where: [], assumption: 'In May.' },
    ]);
    expect(markdown).toMatch(
      /## All open questions\n\n- Who pays\? \(Options › A\)\n- When\? Assumption: In May\.\n/,
    );
  });

  test('an indented template makes no code of the document', () => {
    const indented = template.replace(/^(?=.)/gm, '    ');
    const content = { summary: 'We build.', options: [{ name: 'A', why: 'One.\n\nTwo.' }] };
    expect(render(content, { template: indented })).toEqual(render(content));
    const partly = template
      .replace('## {{', '    ## {{')
      .replace('{{ option.why', '      {{ option.why');
    expect(render(content, { template: partly })).toEqual(render(content));
  });

  test('a value cannot break out of its place', () => {
    const { markdown } = render({
      summary: '# Not the title\n```\nopen',
      options: [{ name: 'A\n# B\n<script>', why: '<div>\n[S1]: http://x' }],
    });
    expect(markdown.match(/^# .*$/gm)).toEqual(['# Plan']);
    expect(markdown.match(/^## .*$/gm)).toEqual(['## A # B &lt;script>']);
    expect(markdown).not.toMatch(/<(script|div)|^\[S1\]/m);
    expect(markdown.match(/^```/gm)).toHaveLength(2);
  });

  test('rows of a table in a template hold their values', () => {
    const table =
      '| Name | Why |\n| --- | --- |\n{%- for o in content.options %}\n' +
      '| {{ o.name }} | {{ o.why }} |\n{%- endfor %}';
    const { markdown } = render({ options: [{ name: 'a|b', why: 'x\ny' }] }, { template: table });
    expect(markdown).toContain('| a\\|b | x y |\n');
  });

  test('a name that nobody knows is an error, an absent one of the contract is not', () => {
    expect(() => render({ summary: 'x' }, { template: '{{ content.sumary }}' })).toThrow(
      /undefined variable: content\.sumary/,
    );
    expect(() => render({ summary: 'x' }, { template: '{{ content.summary | nope }}' })).toThrow();
    expect(() => render({ summary: 'x' }, { template: '{% for %}' })).toThrow('template');
    expect(render({ summary: 'x' }, { template: '{{ content.status.done }}' }).markdown).toBe(
      '## Summary\n\nx\n',
    );
  });

  test('code cannot be reached from a template', () => {
    const reach = '{{ content.constructor }}{{ content.summary }}';
    expect(() => render({ summary: 'x' }, { template: reach })).toThrow('undefined variable');
  });

  const LONG = 240_000;
  test.each([
    ['150,000 lines', 'a\n'.repeat(150_000)],
    ['30,000 backticks', '`'.repeat(30_000)],
    ['backticks between words', '`a '.repeat(LONG / 3)],
    ['runs of backticks of every length', ticks(690)],
    ['open fences', '```\n\n\n'.repeat(LONG / 6)],
    ['open brackets', '['.repeat(LONG)],
    ['open images', '![a]('.repeat(LONG / 5)],
    ['open tags', '<a '.repeat(LONG / 3)],
    ['quotes within quotes', '> '.repeat(LONG / 2)],
    ['stars', 'a*'.repeat(LONG / 2)],
    ['blanks', `a${' '.repeat(LONG)}b`],
    ['empty lines', `a${'\n'.repeat(LONG)}b`],
    ['bars', '|'.repeat(LONG)],
    ['underlines', 'a\n==\n'.repeat(LONG / 5)],
  ])('%s are rendered without delay', (_name, text) => {
    const started = performance.now();
    const { markdown } = render({ summary: text, options: [{ name: text, why: 'x' }] });
    expect(letters(markdown)).toContain(letters(text));
    // A second on a busy machine; what grows with the square of the text takes minutes.
    expect(performance.now() - started).toBeLessThan(30_000);
  });

  test('thousands of texts that a template cuts short, and lists in lists, end as well', () => {
    const cut = '{% for o in content.options %}{{ o.name | truncate: 4 }} {% endfor %}';
    const options = Array.from({ length: 6_000 }, (_, n) => ({ name: `name ${n} of many` }));
    expect(render({ options }, { template: cut }).markdown).toContain('name 5999 of many');
    let nested: unknown = Array.from({ length: 5_000 }, (_, n) => `line ${n}`);
    for (let depth = 0; depth < 150; depth += 1) nested = [nested, 'x'];
    const { markdown } = render({ status: nested });
    expect(markdown).toContain('line 4999');
    expect(markdown.length).toBeLessThan(300_000);
  });

  test('no text of any document is ever lost', () => {
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 3 },
        fc.lorem({ mode: 'sentences', maxCount: 2 }),
        fc.string(),
        fc.array(tie('any'), { maxLength: 3 }),
        fc.dictionary(fc.lorem({ maxCount: 1 }), tie('any'), { maxKeys: 3, noNullPrototype: true }),
      ),
    })).any;
    const content = fc.dictionary(
      fc.oneof(fc.constantFrom(...Object.keys(schema.properties)), fc.lorem({ maxCount: 1 })),
      value,
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(content, (document) => {
        const shown = letters(render(document).markdown);
        for (const text of textsIn(document)) expect(shown).toContain(letters(text));
      }),
      { numRuns: 500 },
    );
  });
});

const ticks = (most: number): string =>
  Array.from({ length: most }, (_, n) => '`'.repeat(n + 1)).join('a');

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value.replaceAll('&lt;', '')];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

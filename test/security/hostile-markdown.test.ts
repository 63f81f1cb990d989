import * as fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { printResult, reportFailure, tell } from '../../src/cli/output.ts';
import { DialecticError } from '../../src/errors/errors.ts';
import { renderMarkdown } from '../../src/generation/render-markdown.ts';
import { logToStderr } from '../../src/platform/log.ts';
import { showAsIs } from '../../src/session/export-calls.ts';
import { toMarkdown, toTable } from '../../src/text/markdown-blocks.ts';
import { safeBlock, safeCell, safeInline } from '../../src/text/markdown-text.ts';
import { makeInert } from '../../src/text/safe-markdown.ts';

/** A viewer that shows all it can: HTML, images, links of every kind. */
const viewer = new MarkdownIt({ html: true });
viewer.validateLink = () => true;

/** What the viewer would run, load or open that is no page. */
function findLive(markdown: string): string[] {
  const tokens = viewer.parse(markdown, {}).flatMap((token) => [token, ...(token.children ?? [])]);
  return tokens.flatMap((token) => {
    if (/^(?:html_block|html_inline|image)$/.test(token.type)) return [token.content];
    const target = decode(String(token.attrGet('href') ?? ''));
    const scheme = /^[a-z][a-z\d+.-]*(?=:)/i.exec(target)?.[0] ?? 'https';
    return /^(?:https?|mailto)$/i.test(scheme) && !/^[/\\]{2}/.test(target) ? [] : [target];
  });
}

const decode = (target: string): string => target.replaceAll(/%(?:09|0A|0D|20)/gi, '');

const CONTROLS = /[[\p{Cc}--[\t\n]]\u202a-\u202e\u2066-\u2069]/v;

const PAYLOADS = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg/onload=alert(1)>',
  '<!-- comment',
  '<?php x ?>',
  '<![CDATA[x]]>',
  '<a href="javascript:alert(1)">x</a>',
  '</details><iframe src=https://x.example>',
  '![a](https://x.example/pixel.png)',
  '![a][b]\n\n[b]: https://x.example/pixel.png',
  '[![a](https://x.example/p.png)](https://x.example)',
  '\\![a](javascript:alert(1))',
  '\\\\![a](https://x.example/p.png)',
  '[a](javascript:alert(1))',
  '[a]( javascript:alert(1))',
  '[a](<javascript:alert(1)>)',
  '[a](JaVaScRiPt:alert(1))',
  '[a](javascript&colon;alert(1))',
  '[a](&#106;avascript:alert(1))',
  '[a](&#x6A;avascript:alert(1))',
  '[a](&#0000106;&#0000097;vascript:alert(1))',
  `[a](${'&Tab;'.repeat(60)}javascript:alert(1))`,
  '[a](<java&Tab;script:alert(1)>)',
  '[a](<java\tscript:alert(1)>)',
  '[a](java\\script:alert(1))',
  '[a](data:text/html,x)',
  '[a](vbscript:x)',
  '[a](file:///etc/passwd)',
  '[a](//x.example/share)',
  '[a](\\\\\\\\x.example\\share)',
  '<javascript:alert(1)>',
  '<data:text/html,x>',
  '[a][1]\n\n[1]: javascript:alert(1)',
  '> [1]: javascript:alert(1)\n\n[1]',
  '- [1]: <javascript:alert(1)>\n\n[1]',
  // Where code seems to begin and does not, or ends earlier than it seems.
  '`a\n\n<b>x`',
  '`a\nb` <i>x</i> `c`',
  ')```\n<!--```',
  '\\`<b>\\`',
  '\\`<b>`',
  '`` a ` <b> ``` ` <b>',
  '- ```\n  x\n<b>y</b>',
  '- a\n\n  ```\n  x\n\n<b>y</b>\n  ```',
  '1. ```\n<img src=x>\n```',
  '> ```\n<b>x</b>\n> ```',
  '```\na\n``` b\n```\n<b>x</b>',
  '~~~ `\n~~~\n<b>`</b>',
  '```|\n|---\n<b>x</b>',
  '| `a | <b>` |\n| --- | --- |\n| `a \\| <b>` | <i>`x` |',
  '<a href="`">`<script>alert(1)</script>`',
  '[a](javascript:`) `<b>`',
  '[`](javascript:x) `<b>',
  `${'> '.repeat(120)}<b>x</b>`,
  `${'- '.repeat(120)}\`a\` <b>x</b>`,
  `${'['.repeat(120)}<b>x</b>`,
  '    <b>x</b>',
  'a\n\n    ![x](https://x.example)\n',
  '# `<b>` <i> ##',
  '\u202e<b>\u2066x\u009b31m\u001b[2J\u0007',
];

const PLACES: readonly (readonly [string, (text: string) => string])[] = [
  ['a block', (text) => safeBlock(text, 3)],
  ['a line', safeInline],
  ['a heading', (text) => `## ${safeInline(text)}\n`],
  ['a cell', (text) => `| a |\n| --- |\n| ${safeCell(text)} |\n`],
  ['a list', (text) => toMarkdown([text, [text, [text]]])],
  ['a mixed list', (text) => toMarkdown(['x', { [text]: text }])],
  ['records', (text) => toMarkdown({ [text]: [{ a: text, b: [text] }, { a: 'x' }] })],
  ['a table', (text) => toTable([{ [text]: text, b: { c: text } }])],
  ['a template', (text) => inTemplate(text)],
  [
    'the middle of a line',
    (text) => inTemplate(text, 'Because {{ content.a }} and {{ content.b }}.'),
  ],
  ['a whole document', makeInert],
  ['a prompt', showAsIs],
];

const inTemplate = (
  text: string,
  template = '# {{ content.a }}\n\n{{ content.a }}\n\n{{ content.b | markdown }}\n',
): string =>
  renderMarkdown({
    template,
    schema: { type: 'object', properties: { a: {}, b: {} } },
    content: { a: text, b: [text], c: { [text]: text } },
    document: { title: text },
  }).markdown;

describe.each(PLACES)('in %s', (_name, place) => {
  test.each(PAYLOADS)('%j is only shown', (payload) => {
    const shown = place(payload);
    expect(findLive(shown)).toEqual([]);
    expect(shown).not.toMatch(CONTROLS);
  });
});

test('nothing becomes live, however its parts are put together', () => {
  const marks = [
    '`',
    '``',
    '```',
    '~~~',
    '\n',
    '\n\n',
    '- ',
    '> ',
    '    ',
    '|',
    '\\',
    '"',
    '(',
    ')',
  ];
  const live = ['<b>', '</b>', '<a href="', '![', '[', '](', ']: ', 'javascript:', '<!--', '-->'];
  const piece = fc.constantFrom(...marks, ...live, 'x', '| --- |', '# ', '---', '[a](x)', '!');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (parts) => {
      const text = parts.join('');
      const inert = makeInert(text);
      expect(findLive(inert)).toEqual([]);
      expect(makeInert(inert)).toBe(inert);
      expect(findLive(safeBlock(text, 3))).toEqual([]);
      expect(findLive(safeInline(text))).toEqual([]);
    }),
    { numRuns: 3_000 },
  );
});

test('harmless Markdown stays as it is, to the byte', () => {
  const text = [
    '# Plan\n\nBecause **x** < 10 and `a<b>` & <https://a.example>, see [this](decide/plan.md#a).',
    '- [x] `![a](b)` and ``<`>``\n- ```html\n  <b>\n  ```\n\n> quoted `<i>`\n> more',
    '| `a<b>` | b |\n| --- | --- |\n| 1 \\| 2 | `x \\| <y>` |\n\n~~~\n<b>\n~~~',
    '`<b>\na <i>` [mail](mailto:a@b.example) [S1] [1] x[0]: y! [up](../a b.md) 1 <2> a<-b\n',
  ].join('\n\n');
  expect(makeInert(text)).toBe(text);
});

describe('on the terminal', () => {
  const hostile = 'red \u001b[31m \u009b2J \u202e end\u0007\r';
  const plain = 'red [31m 2J  end';
  const written = (write: () => void): string => {
    const texts: string[] = [];
    const keep = (text: unknown): boolean => texts.push(String(text)) > 0;
    vi.spyOn(process.stdout, 'write').mockImplementation(keep);
    vi.spyOn(process.stderr, 'write').mockImplementation(keep);
    write();
    vi.restoreAllMocks();
    return texts.join('');
  };
  afterEach(() => {
    process.exitCode = 0;
  });

  test('names, answers and errors of others act on nothing', () => {
    expect(written(() => printResult(false, {}, [hostile]))).toBe(`${plain}\n`);
    expect(written(() => tell(hostile))).toBe(`${plain}\n`);
    expect(written(() => logToStderr(hostile))).toBe(`${plain}\n`);
    const error = new DialecticError('provider_unavailable', hostile);
    expect(written(() => reportFailure(error, false))).toContain(`dialectic: ${plain}\n`);
  });

  test('JSON keeps them in escaped form', () => {
    const json = written(() => printResult(true, { hostile }, []));
    expect(json).not.toMatch(CONTROLS);
    expect(JSON.parse(json)).toEqual({ hostile });
  });
});

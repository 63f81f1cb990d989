import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dedent, safeBlock, safeCell, safeInline } from './markdown-text.ts';

const letters = (text: string): string => text.replace(/&lt;|[^\p{L}\p{N}]/gu, '');

describe('safeBlock', () => {
  test('leaves well-behaved Markdown as it is', () => {
    const text = [
      '### Why\n\nBecause **x** < 10 and `a<b>` & <https://a.example>.\n\n- one\n- two\n',
      '| a | b |\n| --- | --- |\n| 1 | 2 |\n',
      '```ts\nconst a: Array<string> = [];\n# no heading\n```',
    ].join('\n');
    expect(safeBlock(text, 3)).toBe(text);
  });

  test('headings begin at the level of their place and keep their steps', () => {
    expect(safeBlock('# A\n## B\n#### C', 3)).toBe('### A\n#### B\n###### C');
    expect(safeBlock('Title\n=====\ntext', 3)).toBe('### Title\ntext');
    expect(safeBlock('#hashtag', 3)).toBe('#hashtag');
  });

  test('a line of dashes below a text does not make it a heading', () => {
    expect(safeBlock('A sentence.\n---\nMore.', 3)).toBe('A sentence.\n\n---\nMore.');
  });

  test('a fence that is left open is closed', () => {
    expect(safeBlock('```js\nlet a', 3)).toBe('```js\nlet a\n```');
    expect(safeBlock('~~~~\n```\nx', 3)).toBe('~~~~\n```\nx\n~~~~');
    expect(safeBlock('```js\na\n```', 3)).toBe('```js\na\n```');
  });

  test.each([
    ['<script>alert(1)</script>', '&lt;script>alert(1)&lt;/script>'],
    ['<!-- the rest', '&lt;!-- the rest'],
    ['<details><summary>x', '&lt;details>&lt;summary>x'],
    ['a `<b>` <i>', 'a `<b>` &lt;i>'],
    ['[1]: https://evil.example', '\\[1]: https://evil.example'],
    ['[^1]: not a source', '\\[^1]: not a source'],
    ['red \u001b[31mtext\u0000', 'red [31mtext'],
  ])('%j shows as text', (text, expected) => {
    expect(safeBlock(text, 3)).toBe(expected);
  });

  test('indentation that all lines share goes, the rest stays', () => {
    expect(safeBlock('    A\n    - b\n      - c\n', 3)).toBe('A\n- b\n  - c');
    expect(dedent('\n\n  a\n\n    b\n')).toBe('a\n\n  b');
  });

  test('is stable and keeps every letter', () => {
    const piece = fc.constantFrom(
      '# ',
      '```',
      '<b>',
      '\n',
      '---',
      '    ',
      '`',
      '[a]: b',
      'word ',
      '=',
      '|',
    );
    fc.assert(
      fc.property(
        fc.array(fc.oneof(piece, fc.string({ maxLength: 5 })), { maxLength: 30 }),
        (parts) => {
          const text = parts.join('').replaceAll('&lt;', '');
          const once = safeBlock(text, 3);
          expect(letters(once)).toBe(letters(text));
          expect(safeBlock(once, 3)).toBe(once);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

test('what stays on a line has no line breaks, and a cell no open pipe', () => {
  expect(safeInline(' a\n\n# b <i>')).toBe('a # b &lt;i>');
  expect(safeCell('a|b \\| c\nd')).toBe('a\\|b \\| c d');
});

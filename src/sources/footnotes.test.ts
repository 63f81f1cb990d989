import { describe, expect, test } from 'vitest';
import { auditCitations } from './audit-citations.ts';
import { formatFootnotes } from './footnotes.ts';
import { findMarkers, normaliseMarkers } from './markers.ts';
import { findProse } from './prose-spans.ts';
import type { Source } from './source.ts';

const source = (id: string, more: Partial<Source> = {}): Source => ({
  id,
  key: `text:${id}`,
  title: `Title of ${id}`,
  excerpts: [],
  ...more,
});
const SOURCES: Record<string, Source> = {
  S1: source('S1', { url: 'https://example.org/a b', publisher: 'Example', year: 2024 }),
  S2: source('S2', { title: 'Pipes | and *stars*' }),
  S3: source('S3', { aliasOf: 'S1' }),
};
const find = (id: string): Source | undefined => SOURCES[id];

describe('footnotes', () => {
  test('are numbered by first appearance, once for each source', () => {
    expect(formatFootnotes('B [S2]. A [S1], again [S3].\n', find)).toBe(`B [^1]. A [^2], again [^2].

## Footnotes

[^1]: Pipes | and *stars*
[^2]: Title of S1 — Example (2024) <https://example.org/a%20b>

## Sources

| id | title | address | cited |
|---|---|---|---|
| S2 | Pipes \\| and *stars* |  | 1 |
| S1 | Title of S1 | <https://example.org/a%20b> | 2 |
`);
  });

  test('leave code and unknown ids as they are', () => {
    const text = 'A `[S1]` [S9] [S1]\n\n```\n[S1]\n```\n';
    expect(formatFootnotes(text, find)).toMatch(/^A `\[S1\]` \[S9\] \[\^1\]\n\n```\n\[S1\]\n```\n/);
  });

  test('begin behind those that the document has', () => {
    expect(formatFootnotes('A[^4] [S1]\n\n[^4]: Own.\n', find)).toContain('A[^4] [^5]');
  });

  test('become references where nothing is cited', () => {
    const text = formatFootnotes('Nothing.\n', find, [source('S1')]);
    expect(text).toBe('Nothing.\n\n## References\n\n- Title of S1\n');
    expect(formatFootnotes('Nothing.\n', find)).toBe('Nothing.\n');
  });
});

describe('markers', () => {
  test.each([
    ['[S1,S2]', '[S1][S2]'],
    ['[S1; S2 and S3]', '[S1][S2][S3]'],
    ['[S2-S4]', '[S2][S3][S4]'],
    ['[S2–S4]', '[S2][S3][S4]'],
    ['【S1】', '[S1]'],
    ['［S1］', '[S1]'],
    ['[s1]', '[S1]'],
    ['\\[S1\\]', '[S1]'],
    ['(Source 12)', '[S12]'],
    ['as Source 3 says', 'as [S3] says'],
    ['| a [S1] | b [S2, S3] |', '| a [S1] | b [S2][S3] |'],
    ['`[S1,S2]` ``a ` [S1,S2]``', '`[S1,S2]` ``a ` [S1,S2]``'],
    ['```| a [S1,S2] |\n|---|', '```| a [S1,S2] |\n|---|'],
    ['> [S1,S2] | b\n|---|---|', '> [S1][S2] | b\n|---|---|'],
    ['<a href="[S1,S2]">x</a> <!-- [S1,S2] -->', '<a href="[S1,S2]">x</a> <!-- [S1,S2] -->'],
    ['[text](https://a.org/[S1,S2])', '[text](https://a.org/[S1,S2])'],
    ['an unclosed ` before [S1,S2]', 'an unclosed ` before [S1][S2]'],
    ['\\![a [S1,S2]](u)', '\\![a [S1][S2]](u)'],
    ['![a [S1,S2]](u)', '![a [S1,S2]](u)'],
  ])('%s is read as %s', (written, plain) => {
    const text = `> - ${written}\n`;
    expect(normaliseMarkers(text)).toBe(`> - ${plain}\n`);
  });

  test.each(['S1 ', 'S1  ', 'S1 , ', 'Source  1 '])(
    'of a list of "%s" that is never closed cost no more than its length',
    (item) => {
      // With two ways to match the space between them, forty items would take days.
      for (const open of ['[', '(', '\u3010']) {
        const text = open + item.repeat(40);
        const whole = findMarkers(text, findProse(text)).filter(({ start }) => start === 0);
        expect(whole).toEqual([]);
      }
    },
  );

  test('are found in a long text of whatever costs a careless scan most', () => {
    for (const piece of [
      '[',
      '`',
      '``` `',
      '<a ',
      '<!-- ',
      '](',
      '[S1',
      'S1 ',
      '.[',
      '“a ',
      '| ` ',
    ]) {
      const text = piece.repeat(200_000 / piece.length);
      expect(findMarkers(text, findProse(text)), piece).toHaveLength(0);
      expect(auditCitations(text, find, []).cited).toEqual([]);
    }
  }, 120_000);
});

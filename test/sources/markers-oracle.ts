import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { expect } from 'vitest';
import { findMarkers } from '../../src/sources/markers.ts';
import { findProse } from '../../src/sources/prose-spans.ts';
import { readTablesLate } from '../../src/text/late-tables.ts';
import { readWithRemark } from './remark-oracle.ts';

const PIECES = [
  [
    '[S1]',
    '[S2]',
    '[S33]',
    'a',
    ' ',
    'word ',
    '. ',
    '\n',
    '\n\n',
    '\r',
    '*',
    '**',
    '_',
    '[',
    ']',
    '!',
  ],
  ['`', '``', '```', '```\n', '~~~\n', '    ', '\t', '> ', '- ', '1. ', '# ', '---\n', '\\'],
  ['|', '|---|---|\n', '| a [S1] | b |\n', '<b>', '</b>', '<!-- [S1] -->', '<div>\n', '<', '>'],
  ['](u)', '](<u v> "t")', '[S1](u)', '[x][S1]', '<https://a.b/[S1]>', '&amp;', '"', '“', '(', ')'],
].flat();

const parser = new MarkdownIt({ html: true });
readTablesLate(parser);

/** What a whole parser shows as text, block by block; addresses that are shown are none. */
function readMarkers(text: string): string[] {
  return parser.parse(text, {}).flatMap(({ children }) => {
    let isAddress = false;
    let shown = '';
    for (const { type, content, info } of children ?? []) {
      if (type === 'link_open') isAddress = info === 'auto';
      if (type === 'link_close') isAddress = false;
      // Between what is no text stands a sign that is part of no marker.
      shown += type === 'text' && !isAddress ? content : '\u0000';
    }
    return shown.match(/\[S\d+\]/g) ?? [];
  });
}

/** A parser that tells which markers a reader sees in a document. */
type Oracle = (text: string) => readonly string[];

/**
 * Documents made of all that Markdown is made of: the scanner and a whole parser see the same. Each
 * parser has faults of its own, so that where the first sees something else the second is asked.
 */
export function compareWithParser(
  documents: number,
  oracles: readonly Oracle[] = [readMarkers, readWithRemark],
  seed?: number,
): void {
  const document = fc
    .array(fc.constantFrom(...PIECES), { maxLength: 40 })
    .map((all) => all.join(''));
  fc.assert(
    fc.property(document, (text) => {
      const found = findMarkers(text, findProse(text)).map(({ start, end }) =>
        text.slice(start, end).replaceAll('\\', ''),
      );
      const markers = found.filter((marker) => /^\[S\d+\]$/.test(marker));
      const isSeen = oracles.some((oracle) => isDeepStrictEqual(oracle(text), markers));
      if (!isSeen) expect(markers).toEqual(oracles[0]!(text));
    }),
    { numRuns: documents, ...(seed !== undefined && { seed }) },
  );
}

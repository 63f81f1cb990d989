import { expect } from 'vitest';
import { auditCitations } from '../../src/sources/audit-citations.ts';
import { formatFootnotes } from '../../src/sources/footnotes.ts';
import { normaliseMarkers } from '../../src/sources/markers.ts';

/** What a scanner with a nested search would take hours for when it is repeated. */
const PIECES = [
  ['[', ']', '[S1', '[S1,', '[S1-S9] ', 'Source 1 ', 'S1 ', '(S1 ', '\u3010S1', '[S1][', 'a.[S1]'],
  ['`', '`a', '``a`', '](', '![', '[a](', '<', '<a ', '<a b="', '<!--', '\\', '*', '_a', '**[S1]'],
  ['"aaaaaaaa', '"aaa bbb ccc ', '\u201caaaaaaaa ', '1,', '1.1', 'https://', 'https://a.b/'],
  ['> ', '- ', '1. ', '| a ', '|---', '~~~\n', '    a\n', '\n', '\r', '\t', '. ', '[citation '],
].flat();
/** What an expression goes on and on with once it has begun: it may not overflow the stack. */
const OPENED = [
  ['[', 'S1,'],
  ['<a', ' b'],
  ['[a](', 'a'],
  ['a.', '[a]'],
  ['1', ',1'],
  ['(', 'S1 '],
] as const;
/** A linear scanner needs seconds for a megabyte of any of them; a quadratic one half an hour. */
const MOST_MS = 60_000;

/** Audits and formats a text of each piece, and those that go on for ten times as long. */
export function auditAdversarial(characters: number): void {
  const source = { id: 'S1', key: 'k', title: 'T', excerpts: ['aaa bbb ccc 1'] };
  const find = (id: string) => (id === 'S1' ? source : undefined);
  const begun = OPENED.map(([start, piece]) => start + piece.repeat(10 * characters));
  for (const piece of [...PIECES, ...begun]) {
    const text = piece.repeat(Math.ceil(characters / piece.length));
    const started = performance.now();
    auditCitations(text, find, ['S1']);
    formatFootnotes(text, find);
    normaliseMarkers(text);
    expect(performance.now() - started, text.slice(0, 20)).toBeLessThan(MOST_MS);
  }
}

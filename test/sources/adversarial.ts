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
/** A linear scanner needs seconds for a megabyte of any of them; a quadratic one half an hour. */
const MOST_MS = 60_000;

/** Audits and formats a text of each piece, and one of all of them that is ten times as long. */
export function auditAdversarial(characters: number): void {
  const source = { id: 'S1', key: 'k', title: 'T', excerpts: ['aaa bbb ccc 1'] };
  const find = (id: string) => (id === 'S1' ? source : undefined);
  const mixed = PIECES.join('').repeat(10);
  for (const piece of [...PIECES, mixed]) {
    const length = piece === mixed ? 10 * characters : characters;
    const text = piece.repeat(Math.ceil(length / piece.length));
    const started = performance.now();
    auditCitations(text, find, ['S1']);
    formatFootnotes(text, find);
    normaliseMarkers(text);
    expect(performance.now() - started, piece).toBeLessThan(MOST_MS);
  }
}

import type { Source } from './material.ts';
import { nameInput, quote } from './phrase.ts';
import { overlap } from './term-index.ts';

const LEAST_COMMON = 0.3;
const MOST_COMMON = 0.8;

/** Where two inputs speak of the same thing in different words. */
export function findDifference(sources: readonly Source[]): string | undefined {
  for (const [at, a] of sources.entries()) {
    for (const b of sources.slice(at + 1)) {
      if (a.labels.length !== 1 || b.labels.length !== 1 || a.labels[0] === b.labels[0]) continue;
      const share = overlap(a.statement.termSet, b.statement.termSet);
      if (share < LEAST_COMMON || share > MOST_COMMON) continue;
      return `They differ here: ${tell(a)}, while ${tell(b)}.`;
    }
  }
  return undefined;
}

const tell = ({ labels, statement }: Source): string =>
  `${nameInput(labels[0] ?? '')} says ${quote(statement.core, statement.cites)}`;

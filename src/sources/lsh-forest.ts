import { minHash } from './min-hash.ts';
import type { NearDuplicates } from './near-duplicates.ts';

const TREES = 10;
const LABELS = 8;
/** Eight labels of six bits are a number without a loss. */
const LABEL_BITS = 64;
/** So many neighbours on each side of its place are named by each tree. */
const NEIGHBOURS = 4;
const VALUES = TREES * LABELS;

type Entry = { readonly label: number; readonly ordinal: number };

/**
 * Texts that stand beside each other where all are sorted by their MinHash, in ten orders (an LSH forest
 * as sorted arrays): it finds the nearest ones also where none is very near.
 */
export class LshForest implements NearDuplicates {
  readonly #trees: Entry[][] = Array.from({ length: TREES }, () => []);
  /** What came since the trees were sorted. */
  #fresh: { readonly labels: readonly number[]; readonly ordinal: number }[] = [];

  sign(text: string): Uint32Array {
    return minHash(text, VALUES);
  }

  add(ordinal: number, signature: Uint32Array): void {
    if (signature.length === 0) return;
    this.#fresh.push({ labels: labelsOf(signature), ordinal });
    // Sorting costs as much as the whole tree, so the tree must have grown by a good part.
    if (this.#fresh.length > 64 + this.#trees[0]!.length / 4) this.#plant();
  }

  find(signature: Uint32Array): number[] {
    if (signature.length === 0) return [];
    const labels = labelsOf(signature);
    const found = new Set<number>();
    for (const [tree, label] of labels.entries()) {
      const entries = this.#trees[tree]!;
      const place = placeOf(entries, label);
      const end = Math.min(entries.length, place + NEIGHBOURS);
      for (let at = Math.max(0, place - NEIGHBOURS); at < end; at++)
        found.add(entries[at]!.ordinal);
    }
    for (const { labels: other, ordinal } of this.#fresh) {
      if (labels.some((label, tree) => label === other[tree])) found.add(ordinal);
    }
    return [...found];
  }

  #plant(): void {
    for (const [tree, entries] of this.#trees.entries()) {
      for (const { labels, ordinal } of this.#fresh) {
        entries.push({ label: labels[tree]!, ordinal });
      }
      entries.sort((a, b) => a.label - b.label || a.ordinal - b.ordinal);
    }
    this.#fresh = [];
  }
}

/** One number for each tree, whose first bits decide most. */
function labelsOf(values: Uint32Array): number[] {
  return Array.from({ length: TREES }, (_, tree) => {
    let label = 0;
    for (let at = 0; at < LABELS; at++)
      label = label * LABEL_BITS + (values[tree * LABELS + at]! % 64);
    return label;
  });
}

function placeOf(entries: readonly Entry[], label: number): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (entries[middle]!.label < label) low = middle + 1;
    else high = middle;
  }
  return low;
}

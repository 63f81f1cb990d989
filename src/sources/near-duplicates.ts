import { LshForest } from './lsh-forest.ts';
import { MinHashBands } from './min-hash.ts';
import { SimHashBlocks } from './sim-hash.ts';

/**
 * Finds texts that may be nearly the same by their signatures. It may name too many, so who asks
 * compares the texts themselves; numbers are given by the caller, in ascending order.
 */
export interface NearDuplicates {
  /** What texts that are nearly the same have in common; empty for a text without words. */
  sign(text: string): Uint32Array;
  /** Adds the text of a signature; an empty one is left out. */
  add(ordinal: number, signature: Uint32Array): void;
  /** Names the texts that the one of this signature may resemble. */
  find(signature: Uint32Array): number[];
}

const METHODS = {
  'min-hash': (): NearDuplicates => new MinHashBands(),
  'lsh-forest': (): NearDuplicates => new LshForest(),
  'sim-hash': (): NearDuplicates => new SimHashBlocks(),
};

export type NearMethod = keyof typeof METHODS;

/** MinHash misses least on real texts (`npm run bench sources`), so it is the default. */
export const createNearDuplicates = (method: NearMethod = 'min-hash'): NearDuplicates =>
  METHODS[method]();

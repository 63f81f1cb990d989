import { LshForest } from './lsh-forest.ts';
import { MinHashBands } from './min-hash.ts';
import { SimHashBlocks } from './sim-hash.ts';

/**
 * Finds texts that may be nearly the same. It may name too many, so who asks compares the texts
 * themselves; numbers are given by the caller, in ascending order.
 */
export interface NearDuplicates {
  /** Adds a text, and names the earlier ones that it may resemble. */
  add(ordinal: number, text: string): number[];
  /** Names the texts that this one may resemble, and adds nothing. */
  find(text: string): number[];
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

import type { NearDuplicates } from './near-duplicates.ts';
import { mix, shingles } from './shingles.ts';

const BITS = 64;
/** Blocks of the hash, one more than bits that may differ: at least one of them is equal. */
const BLOCKS = 4;
const MOST_DIFFERENT = 3;

/** Two halves of a hash in which similar texts differ in few bits. */
type SimHash = readonly [number, number];

/** The 64 bits that most runs of a text have set. */
function simHash(text: string): SimHash {
  const votes = new Int32Array(BITS);
  for (const value of shingles(text)) {
    const other = mix(value ^ 0x5bd1e995);
    for (let bit = 0; bit < 32; bit++) {
      votes[bit]! += ((value >>> bit) & 1) * 2 - 1;
      votes[bit + 32]! += ((other >>> bit) & 1) * 2 - 1;
    }
  }
  const half = (from: number): number => {
    let bits = 0;
    for (let bit = 0; bit < 32; bit++) if (votes[from + bit]! > 0) bits |= 1 << bit;
    return bits >>> 0;
  };
  return [half(0), half(32)];
}

/** Texts whose SimHash differs in three bits at most. */
export class SimHashBlocks implements NearDuplicates {
  readonly #blocks = Array.from({ length: BLOCKS }, () => new Map<number, number[]>());
  readonly #hashes = new Map<number, SimHash>();

  add(ordinal: number, text: string): number[] {
    const own = simHash(text);
    const found = this.#search(own);
    this.#hashes.set(ordinal, own);
    for (const [at, block] of blocksOf(own).entries()) {
      const members = this.#blocks[at]!.get(block);
      if (members) members.push(ordinal);
      else this.#blocks[at]!.set(block, [ordinal]);
    }
    return found;
  }

  find(text: string): number[] {
    return this.#search(simHash(text));
  }

  #search(own: SimHash): number[] {
    const near = blocksOf(own).flatMap((block, at) => this.#blocks[at]!.get(block) ?? []);
    return [...new Set(near)].filter(
      (one) => differing(own, this.#hashes.get(one)!) <= MOST_DIFFERENT,
    );
  }
}

const blocksOf = ([low, high]: SimHash): number[] => [
  low & 0xffff,
  low >>> 16,
  high & 0xffff,
  high >>> 16,
];

const differing = (one: SimHash, other: SimHash): number =>
  countBits(one[0] ^ other[0]) + countBits(one[1] ^ other[1]);

function countBits(value: number): number {
  let bits = value - ((value >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

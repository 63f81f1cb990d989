import type { NearDuplicates } from './near-duplicates.ts';
import { mix, shingles } from './shingles.ts';

const BITS = 64;
/** Blocks of the hash, one more than bits that may differ: at least one of them is equal. */
const BLOCKS = 4;
const MOST_DIFFERENT = 3;

/** The 64 bits that most runs of a text have set, in two halves; similar texts differ in few. */
function simHash(text: string): Uint32Array {
  const votes = new Int32Array(BITS);
  const runs = shingles(text);
  if (runs.length === 0) return new Uint32Array(0);
  for (const value of runs) {
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
  return Uint32Array.of(half(0), half(32));
}

/** Texts whose SimHash differs in three bits at most. */
export class SimHashBlocks implements NearDuplicates {
  readonly #blocks = Array.from({ length: BLOCKS }, () => new Map<number, number[]>());
  readonly #hashes = new Map<number, Uint32Array>();

  sign(text: string): Uint32Array {
    return simHash(text);
  }

  add(ordinal: number, own: Uint32Array): void {
    if (own.length === 0) return;
    this.#hashes.set(ordinal, own);
    for (const [at, block] of blocksOf(own).entries()) {
      const members = this.#blocks[at]!.get(block);
      if (members) members.push(ordinal);
      else this.#blocks[at]!.set(block, [ordinal]);
    }
  }

  find(own: Uint32Array): number[] {
    if (own.length === 0) return [];
    const near = blocksOf(own).flatMap((block, at) => this.#blocks[at]!.get(block) ?? []);
    return [...new Set(near)].filter(
      (one) => differing(own, this.#hashes.get(one)!) <= MOST_DIFFERENT,
    );
  }
}

const blocksOf = ([low = 0, high = 0]: Uint32Array): number[] => [
  low & 0xffff,
  low >>> 16,
  high & 0xffff,
  high >>> 16,
];

const differing = ([low = 0, high = 0]: Uint32Array, other: Uint32Array): number =>
  countBits(low ^ other[0]!) + countBits(high ^ other[1]!);

function countBits(value: number): number {
  let bits = value - ((value >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

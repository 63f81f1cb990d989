import { type Embedded, likeness } from './embedder.ts';
import { createKernel, type ScanKernel, STRIDE } from './scan-kernel.ts';

/** A vector by its place among those that are scanned. */
type Near = { readonly at: number; readonly likeness: number };

const BYTES = Float32Array.BYTES_PER_ELEMENT;
/** By how much a sum of some hundred products of 32 bits may differ from one of 64. */
const SPREAD = 1e-4;

/**
 * Vectors to be compared with many questions: the exact scan. The kernel adds up in 32 bits; what may
 * be among the nearest by its sums is compared again in 64, so that the ranking is that of `likeness`.
 */
export class VectorScan {
  /** Those that were embedded, with their places among all: the others take no memory here. */
  readonly #vectors: readonly { readonly at: number; readonly vector: Float32Array }[];
  readonly #dimensions: number;
  /** Bytes of a vector in the kernel's memory, where zeros fill it up. */
  readonly #bytes: number;
  readonly #question: Float32Array;
  readonly #sums: Float32Array;
  readonly #kernel: ScanKernel;

  constructor(vectors: readonly Embedded[]) {
    this.#dimensions = vectors.reduce((most, { vector }) => Math.max(most, vector.length), 0);
    this.#bytes = Math.max(1, Math.ceil((this.#dimensions * BYTES) / STRIDE)) * STRIDE;
    this.#vectors = vectors.flatMap(({ vector }, at) =>
      vector.length === this.#dimensions ? [{ at, vector }] : [],
    );
    const { length } = this.#vectors;
    const size = (length + 1) * this.#bytes + length * BYTES;
    const { buffer, scan } = createKernel(size);
    const numbers = this.#bytes / BYTES;
    const block = new Float32Array(buffer, 0, (length + 1) * numbers);
    for (const [row, { vector }] of this.#vectors.entries()) block.set(vector, row * numbers);
    this.#question = block.subarray(length * numbers);
    this.#sums = new Float32Array(buffer, (length + 1) * this.#bytes, length);
    this.#kernel = scan;
  }

  /** The vectors that are most like a question and not unlike it, the nearest first. */
  nearest(question: Float32Array, most: number): Near[] {
    const { length } = this.#vectors;
    if (question.length !== this.#dimensions || length === 0 || most < 1) return [];
    this.#question.set(question);
    const end = length * this.#bytes;
    this.#kernel(0, end, end, this.#bytes, end + this.#bytes);
    const least = Math.max(0, lowestOf(this.#sums, most)) - SPREAD;
    const found: Near[] = [];
    for (let row = 0; row < length; row++) {
      if (this.#sums[row]! < least) continue;
      const { at, vector } = this.#vectors[row]!;
      const exact = likeness(vector, question);
      if (exact > 0) found.push({ at, likeness: exact });
    }
    return found.toSorted((a, b) => b.likeness - a.likeness || a.at - b.at).slice(0, most);
  }
}

/** The lowest of the highest so many values; where there are fewer, below all of them. */
function lowestOf(values: Float32Array, many: number): number {
  if (values.length < many) return Number.NEGATIVE_INFINITY;
  // A heap with the lowest in front, which most values are not above.
  const heap = values.subarray(0, many).toSorted();
  for (let at = many; at < values.length; at++) {
    if (values[at]! <= heap[0]!) continue;
    heap[0] = values[at]!;
    sink(heap);
  }
  return heap[0] ?? Number.NEGATIVE_INFINITY;
}

/** Puts the first of a heap where it belongs. */
function sink(heap: Float32Array): void {
  let at = 0;
  for (;;) {
    const left = 2 * at + 1;
    if (left >= heap.length) return;
    const next = left + 1 < heap.length && heap[left + 1]! < heap[left]! ? left + 1 : left;
    if (heap[at]! <= heap[next]!) return;
    const one = heap[at]!;
    heap[at] = heap[next]!;
    heap[next] = one;
    at = next;
  }
}

/** Turns texts into vectors of length 1, so that their inner product is their likeness. */
export type Embedder = {
  /** Stored with each vector: vectors of different models are never compared. */
  readonly model: string;
  embed(texts: readonly string[]): Promise<Float32Array[]>;
};

/** A text with its vector. */
export type Embedded = { readonly text: string; readonly vector: Float32Array };

/**
 * The inner product of two vectors; 0 where one of them is missing. Four sums do not wait for each
 * other, which takes a third of the time of one.
 */
export function likeness(one: Float32Array, other: Float32Array): number {
  const { length } = other;
  if (one.length !== length) return 0;
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let at = 0;
  for (; at + 3 < length; at += 4) {
    a += one[at]! * other[at]!;
    b += one[at + 1]! * other[at + 1]!;
    c += one[at + 2]! * other[at + 2]!;
    d += one[at + 3]! * other[at + 3]!;
  }
  for (; at < length; at++) a += one[at]! * other[at]!;
  return a + b + c + d;
}

/** The vector with length 1; one of zeros stays as it is. */
export function normalise(vector: Float32Array): Float32Array {
  const length = Math.sqrt(likeness(vector, vector));
  return length === 0 ? vector : vector.map((value) => value / length);
}

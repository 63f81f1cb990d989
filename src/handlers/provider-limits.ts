import type { ConcurrencyLimits } from '../jobs/limits.ts';
import type { ModelsConfig } from '../models/config.ts';

/** The concurrency key of the jobs that call a provider. */
export const providerKey = (provider: string): string => `provider/${provider}`;

/** The `concurrency` of each provider that has one, as limits that hold over all workers. */
export function providerLimits({ providers }: ModelsConfig): ConcurrencyLimits {
  return Object.fromEntries(
    Object.entries(providers).flatMap(([name, { concurrency }]) =>
      concurrency === undefined ? [] : [[providerKey(name), concurrency]],
    ),
  );
}

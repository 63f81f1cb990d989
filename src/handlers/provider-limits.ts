import type { ConcurrencyLimits } from '../jobs/limits.ts';
import type { ModelsConfig } from '../models/config.ts';
import { providerKey } from './plan-lane.ts';

/** The `concurrency` of each provider that has one, as limits that hold over all workers. */
export function providerLimits({ providers }: ModelsConfig): ConcurrencyLimits {
  return Object.fromEntries(
    Object.entries(providers).flatMap(([name, { concurrency }]) =>
      concurrency === undefined ? [] : [[providerKey(name), concurrency]],
    ),
  );
}

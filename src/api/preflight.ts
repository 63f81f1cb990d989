import { type ModelCheck, type Offers, preflightModels } from '../models/preflight.ts';
import { createModelProvider } from '../models/provider.ts';
import { allowanceOf } from '../wallet/allowance.ts';
import { chargeProvider } from '../wallet/charged-provider.ts';
import type { RunBudget } from '../wallet/session-budgets.ts';
import { PREFLIGHT } from '../wallet/session-preflight.ts';
import type { Store } from './store.ts';

export type PreflightOptions = {
  /** The session whose models are asked, and which pays; else the user's wallet does. */
  readonly session?: string | undefined;
  /** What a run may spend that is about to start: a call that may cost more is left out. */
  readonly budget?: RunBudget | undefined;
  /** How long lists and calls may take together, in milliseconds; 3,500 where absent. */
  readonly withinMs?: number | undefined;
  /** The names that lists of providers had a moment ago; they are not asked again. */
  readonly offers?: Offers | undefined;
};

/** Asks whether a run can use its models; what that costs is on the ledger when it returns. */
export async function preflight(
  { database, tenantId, models: config }: Store,
  models: readonly string[],
  { session, budget = {}, withinMs, offers = {} }: PreflightOptions = {},
): Promise<readonly ModelCheck[]> {
  const calls = new Map<string, string>();
  const provider = chargeProvider(createModelProvider(config), {
    database,
    tenantId,
    config,
    purpose: PREFLIGHT,
    sessionId: session ?? null,
    most: allowanceOf(budget),
    onPosted: ({ model, callId }) => calls.set(model, callId),
  });
  const overrides = { offers, ...(withinMs !== undefined && { allMs: withinMs }) };
  const checks = await preflightModels(models, config, provider, overrides);
  return checks.map((check) => {
    const call = calls.get(check.model);
    return call === undefined ? check : { ...check, call };
  });
}

import { DialecticError } from '../errors/errors.ts';
import type { JobContext } from '../jobs/context.ts';
import type { HoldResult } from '../wallet/holds.ts';
import { noteShortage, type Shortage } from '../wallet/ledger.ts';

/**
 * Puts the job back and closes the gate of the limit that refused its money. Where calls in flight
 * hold the rest, the job is tried again instead.
 */
export async function pauseForFunds(
  { job, commit }: Pick<JobContext, 'job' | 'commit'>,
  held: HoldResult,
): Promise<void> {
  if (held.outcome === 'wait') throw fundsBusy();
  const pause = gateOf(held);
  const shortage = shortageOf(held);
  await commit({
    write: (tx) => noteShortage(tx, job.sessionId, pause, shortage),
    next: { pause },
  });
}

/** Not a failed try: nothing was sent. */
export const fundsBusy = (): DialecticError =>
  new DialecticError('funds_busy', 'Calls in flight hold what is left of the money.', {
    details: { sent: false, retryAfterMs: 1_000 },
  });

function gateOf({ outcome }: HoldResult): 'budget' | 'funds' | 'approval' {
  if (outcome === 'budget' || outcome === 'funds' || outcome === 'approval') return outcome;
  throw new DialecticError('internal_error', `A new call cannot be ${outcome}.`);
}

const shortageOf = ({ shortScope, shortCurrency }: HoldResult): Shortage | null =>
  shortScope && shortCurrency && { scope: shortScope, currency: shortCurrency };

import type { Dialectic } from '../api/dialectic.ts';
import { DialecticError } from '../errors/errors.ts';
import { addRanges } from '../estimate/estimate-run.ts';
import type { Estimate, Range } from '../estimate/types.ts';
import { parseAmount } from '../wallet/amounts.ts';
import type { RunBudget } from '../wallet/session-budgets.ts';
import { agree, type Consent } from './confirm.ts';
import { compact, describeRange, dollars } from './estimate-text.ts';
import { tell } from './output.ts';

/** What is about to be spent. */
export type Spending = {
  /** Where a price is unknown, the sum of those that are known. */
  readonly costUsd: Range | null;
  readonly tokens: number;
  /** The models whose price is unknown; their cost comes on top. */
  readonly unpriced?: readonly string[];
};

/** What a run would spend by its estimate. */
export function spendingOf(estimate: Estimate): Spending {
  const { costUsd, models, searches, unpriced, inputTokens, outputTokens } = estimate;
  const tokens = inputTokens.middle + outputTokens.middle;
  if (costUsd !== null) return { costUsd, tokens };
  const known = [...models, ...(searches ? [searches] : [])].flatMap((one) => one.costUsd ?? []);
  return { costUsd: known.length > 0 ? known.reduce(addRanges) : null, tokens, unpriced };
}

/** How much of something is left, and what limits it. */
type Limit = {
  readonly currency: 'USD' | 'token';
  /** Micro-dollars, or tokens. */
  readonly left: number;
  readonly what: string;
};

type SpendingOptions = {
  readonly budget: RunBudget;
  readonly confirmAboveUsd: number;
  readonly consent: Consent;
  /** The session that goes on; null for a new one. */
  readonly session: string | null;
};

/**
 * Asks before a run starts that will probably cost more than its budget, than what is left to spend,
 * or than the amount above which a person wants to be asked. `--yes` agrees; where nobody can be
 * asked, the run is refused.
 */
export async function confirmSpending(
  dialectic: Dialectic,
  spending: Spending,
  { budget, confirmAboveUsd, consent, session }: SpendingOptions,
): Promise<void> {
  const limits = await readLimits(dialectic, budget, session);
  const reason = findExcess(spending, limits, confirmAboveUsd);
  if (reason === null) return;
  const answer = await agree(`${reason} Start it all the same?`, consent);
  if (consent === 'given') tell(reason);
  if (answer === 'agreed') return;
  const said = answer === 'refused' ? 'Nothing was started.' : `${reason} Nothing was started.`;
  const raise = budget.tokens === undefined ? '--budget' : '--budget-tokens';
  const less = '`--depth brief`, `--until`, fewer models';
  const action = `Confirm with \`--yes\`, raise \`${raise}\`, or take less: ${less}.`;
  throw new DialecticError('spending_unconfirmed', said, { action });
}

/** The same before another pass, which will probably cost what each pass before it did. */
export async function confirmPass(
  dialectic: Dialectic,
  session: string,
  options: Omit<SpendingOptions, 'session'>,
): Promise<void> {
  const { usage } = await dialectic.result(session);
  const { iteration } = await dialectic.find(session);
  const tokens = (usage.inputTokens + usage.outputTokens) / iteration;
  const middle = usage.costUsd === null ? null : usage.costUsd / iteration;
  const costUsd = middle === null ? null : { low: middle, middle, high: middle };
  await confirmSpending(dialectic, { costUsd, tokens }, { ...options, session });
}

/** The limits that would end a run early: its own budget, the cap on all spending, the wallet. */
async function readLimits(
  dialectic: Dialectic,
  { usd, tokens }: RunBudget,
  session: string | null,
): Promise<Limit[]> {
  const { accounts, budgets } = await dialectic.wallet.balance();
  const own = budgets.filter(({ scope, ownerId }) => scope === 'session' && ownerId === session);
  const ownLimit = (currency: 'USD' | 'token', given: number | string | undefined): Limit[] => {
    const set = own.find((one) => one.currency === currency);
    const amount = given === undefined ? set?.amount : parseAmount(String(given), currency);
    if (amount === undefined) return [];
    return [{ currency, left: amount - (set?.spent ?? 0), what: 'its budget' }];
  };
  const caps = budgets.filter(({ scope }) => scope === 'tenant');
  const wallets = accounts.filter(({ kind, unlimited }) => kind === 'user' && !unlimited);
  return [
    ...ownLimit('USD', usd),
    ...ownLimit('token', tokens),
    ...caps.map(({ currency, amount, spent, held }) => ({
      currency,
      left: amount - spent - held,
      what: 'the cap on all spending',
    })),
    ...wallets.map(({ currency, balance, held }) => ({
      currency,
      left: balance - held,
      what: 'the wallet',
    })),
  ];
}

/** Why a person should say yes first; null where nothing is exceeded. */
function findExcess(
  { costUsd, tokens, unpriced = [] }: Spending,
  limits: readonly Limit[],
  confirmAboveUsd: number,
): string | null {
  const more = unpriced.length > 0 ? `, and what ${unpriced.join(', ')} costs beside it` : '';
  const cost = costUsd && `This will probably cost ${describeRange(costUsd)}${more}`;
  for (const { currency, left, what } of limits) {
    if (currency === 'USD' && costUsd && costUsd.middle * 1e6 > left) {
      return `${cost}, and ${what} leaves ${dollars(left / 1e6)}: it would pause before its end.`;
    }
    if (currency === 'token' && tokens > left) {
      const use = `This will probably use ${compact(tokens)} tokens`;
      return `${use}, and ${what} leaves ${compact(left)}: it would pause before its end.`;
    }
  }
  const isCapped = limits.some(({ currency, what }) => currency === 'USD' && what === 'its budget');
  if (isCapped || costUsd === null || costUsd.middle <= confirmAboveUsd) return null;
  return `${cost}, which is above ${dollars(confirmAboveUsd)} (spending.confirmAboveUsd).`;
}

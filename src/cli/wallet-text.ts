import type { CostReport } from '../api/data.ts';
import { formatAmount } from '../wallet/amounts.ts';
import type { Balance, BudgetState } from '../wallet/balances.ts';

export const BALANCE_COLUMNS = ['kind', 'owner', 'currency', 'balance', 'held', 'unlimited'];
export const HISTORY_COLUMNS = [
  'at',
  'posting',
  'kind',
  'account',
  'owner',
  'currency',
  'amount',
  'balance',
  'session',
  'call',
  'model',
  'estimated',
  'note',
];
export const CALL_COLUMNS = [
  'id',
  'stage',
  'step',
  'document',
  'lane',
  'model',
  'purpose',
  'status',
  'inputTokens',
  'outputTokens',
  'cachedInputTokens',
  'tokens',
  'usd',
  'estimated',
  'posting',
];

const dollars = (usd: number): string => `$${usd.toFixed(usd >= 1 ? 2 : 4)}`;

const aside = ({ held, currency }: Pick<Balance, 'held' | 'currency'>): string =>
  held > 0 ? `, ${formatAmount(held, currency)} held` : '';

/** An account in one line. */
export function describeAccount(account: Balance): string {
  const { kind, owner, currency, balance, unlimited } = account;
  const name = [kind, owner].filter(Boolean).join(' ');
  const limits = (kind === 'user' || kind === 'project') && unlimited ? ' (no limit)' : '';
  return `${name}: ${formatAmount(balance, currency)}${aside(account)}${limits}`;
}

/** A budget in one line; what is held is not left. */
export function describeBudget(budget: BudgetState): string {
  const { scope, ownerId, currency, amount, spent, held } = budget;
  const of = scope === 'tenant' ? 'everything' : `${scope} ${ownerId}`;
  const [whole, left] = [amount, amount - spent - held].map((sum) => formatAmount(sum, currency));
  return `budget of ${of}: ${whole}, ${left} left${aside(budget)}`;
}

/** What a session cost, for people. */
export function describeReport(report: CostReport): string[] {
  const { retries, continuation, compression, estimated, unknownPrices, holds } = report;
  const part = (name: string, sum: { calls: number; usd: number; tokens: number }): string =>
    `  ${name.padEnd(34)} ${String(sum.calls).padStart(4)} calls ` +
    `${sum.tokens.toLocaleString('en').padStart(12)} tokens ${dollars(sum.usd).padStart(10)}`;
  const lines = [
    `Session ${report.session}: ${dollars(report.total)}, ` +
      `${report.tokens.toLocaleString('en')} tokens, ${report.calls.length} calls`,
    'By stage',
    ...report.byStage.map((sum) => part(sum.stage ?? '', sum)),
    'By model',
    ...report.byModel.map((sum) => part(sum.model ?? '', sum)),
    'By document',
    ...report.byDocument.map((sum) => part(`${sum.document} (lane ${sum.lane})`, sum)),
    'Of that',
    part('asked again', retries),
    part('continuation', continuation),
    part('compression', compression),
    `  ${retries.unanswered} requests brought nothing and cost nothing.`,
    `  The providers' caches saved ${dollars(report.cachedInputSaved)}.`,
  ];
  if (estimated.calls > 0) {
    lines.push(
      `  ${estimated.calls} calls (${dollars(estimated.usd)}) are estimated: cut answers.`,
    );
  }
  if (holds.length > 0) lines.push(`  ${holds.length} calls are under way; their cost is held.`);
  if (unknownPrices.length > 0) {
    lines.push(`Price unknown, tokens counted alone: ${unknownPrices.join(', ')}`);
  }
  return lines;
}

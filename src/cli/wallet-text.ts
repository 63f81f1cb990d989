import type { CostReport } from '../api/data.ts';
import { countNoun } from '../text/count-noun.ts';
import { quoteWord } from '../text/quote-word.ts';
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
  'purpose',
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

type Sum = { readonly calls: number; readonly usd: number; readonly tokens: number };

/** What a session cost, for people. */
export function describeReport(report: CostReport): string[] {
  const { retries, continuation, compression, estimated, unknownPrices, holds } = report;
  const { byStage, byModel, byDocument, searches, preflight, askedForSources: forSources } = report;
  const table: readonly (readonly [title: string, rows: readonly (readonly [string, Sum])[]])[] = [
    ['By stage', byStage.map((sum) => [sum.stage ?? '', sum])],
    ['By model', byModel.map((sum) => [sum.model ?? '', sum])],
    ['By document', byDocument.map((sum) => [nameDocument(sum), sum])],
    [
      'Of that',
      [
        ['asked again', retries],
        ...(forSources.calls > 0 ? [['asked for sources', forSources] as const] : []),
        ['continuation', continuation],
        ['compression', compression],
        ...(searches.calls > 0 ? [['web searches', searches] as const] : []),
        ...(preflight.calls > 0 ? [['preflight', preflight] as const] : []),
      ],
    ],
  ];
  const sum = { calls: report.calls.length, usd: report.total, tokens: report.tokens };
  const unanswered = countNoun(retries.unanswered, 'request');
  const lines = [
    `Session ${report.session}: ${dollars(sum.usd)}, ` +
      `${countNoun(sum.tokens, 'token')}, ${countNoun(sum.calls, 'call')}`,
    ...alignSums(table),
  ];
  if (retries.unanswered > 0) lines.push(`  ${unanswered} brought nothing and cost nothing.`);
  if (report.cachedInputSaved > 0) {
    lines.push(`  The providers' caches saved ${dollars(report.cachedInputSaved)}.`);
  }
  if (estimated.calls > 0) {
    const calls = countNoun(estimated.calls, 'call');
    lines.push(
      `  Estimated, for want of a count by the provider: ${calls}, ${dollars(estimated.usd)}.`,
    );
  }
  const underWay = holds.filter((hold) => hold.underWay).length;
  const left = holds.length - underWay;
  const held = 'with their worst case held';
  if (underWay > 0) lines.push(`  Under way, ${held}: ${countNoun(underWay, 'call')}.`);
  if (left > 0) {
    const how = `To settle ${left === 1 ? 'it' : 'them'}: dialectic resume ${quoteWord(report.session)}`;
    lines.push(`  Left by a worker that is gone, ${held}: ${countNoun(left, 'call')}. ${how}`);
  }
  if (unknownPrices.length > 0) {
    lines.push(`Price unknown, tokens counted alone: ${unknownPrices.join(', ')}`);
  }
  return lines;
}

/** What belongs to no document, such as the preflight, has no lane either. */
const nameDocument = ({ document, lane }: CostReport['byDocument'][number]): string =>
  lane ? `${document} (lane ${lane})` : (document ?? '');

/** Titles with their rows below them, in columns as wide as their longest entries. */
function alignSums(
  table: readonly (readonly [title: string, rows: readonly (readonly [string, Sum])[]])[],
): string[] {
  const cells = table.map(([title, rows]) => {
    const written = rows.map(([name, { calls, tokens, usd }]) => [
      name,
      // The space keeps the figure of one call below those of several.
      countNoun(calls, 'call ', 'calls'),
      countNoun(tokens, 'token ', 'tokens'),
      dollars(usd),
    ]);
    return { title, written };
  });
  const all = cells.flatMap(({ written }) => written);
  const widths = [0, 1, 2, 3].map((at) => Math.max(0, ...all.map((row) => row[at]!.length)));
  const line = ([name, ...sums]: readonly string[]): string =>
    `  ${name!.padEnd(widths[0]!)}  ${sums.map((sum, at) => sum.padStart(widths[at + 1]!)).join('  ')}`;
  return cells.flatMap(({ title, written }) => [title, ...written.map(line)]);
}

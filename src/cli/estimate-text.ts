import type { Addition, Amounts, Estimate, Range, ShortenedPrompt } from '../estimate/types.ts';
import { countNoun } from '../text/count-noun.ts';

/** The estimate in one line, for those who are about to start a run. */
export function summariseEstimate(estimate: Estimate): string {
  const { inputTokens, outputTokens } = estimate;
  const tokens = `${compact(inputTokens.middle)} tokens in, ${compact(outputTokens.middle)} out`;
  return `Estimate: ${describeAmounts(estimate, tokens)}`;
}

/** What was estimated, in the measures in which the end of a run says what it took. */
export function compareEstimate(estimate: Estimate): string {
  const { inputTokens, outputTokens } = estimate;
  const tokens = `${compact(inputTokens.middle + outputTokens.middle)} tokens`;
  return `The estimate was ${describeAmounts(estimate, tokens)}.`;
}

const describeAmounts = (estimate: Estimate, tokens: string): string =>
  `${countNoun(estimate.calls.middle, 'call')}, ${tokens}, ${describeCost(estimate.costUsd, estimate)}`;

function describeCost(cost: Range | null, { unpriced }: Estimate): string {
  if (cost === null) {
    return `price unknown for ${unpriced.join(', ')} (--budget-tokens caps what it uses)`;
  }
  if (cost.high === 0) return 'no cost';
  return describeRange(cost);
}

/** Dollars as they are most likely, with the lowest to expect and the most that it can come to. */
export const describeRange = ({ low, middle, high }: Range): string =>
  low === high
    ? dollars(middle)
    : `${dollars(middle)} (${dollars(low)} at least, ${dollars(high)} at most)`;

/** The whole estimate as a table for each stage and model. */
export function describeEstimate(estimate: Estimate): string[] {
  const { stages, models, parts, unpriced, learnedDocuments } = estimate;
  const several = models.length > 1;
  const rows = stages.flatMap(({ stage, name, ...sum }) => [
    toRow(name, sum),
    ...parts
      .filter((part) => several && part.stage === stage)
      .map((part) => toRow(`  ${part.model}`, part)),
  ]);
  const perModel = several ? models.map(({ model, ...sum }) => toRow(model, sum)) : [];
  const origin =
    learnedDocuments === 0
      ? 'Sizes are typical ones; finished runs will replace them by measured ones.'
      : `Sizes were measured in ${countNoun(learnedDocuments, 'document')} of finished runs where there are any.`;
  return [
    ...align([
      ['', 'calls', 'tokens in', 'tokens out', 'cost'],
      ...rows,
      ...perModel,
      ...rowOfEmbedding(estimate),
      ...rowOfSearches(estimate),
      toRow('all', estimate),
    ]),
    '',
    'Each figure is the most likely one, with the lowest to expect and the most that it can come to:',
    'every document asked for again as often as the rules of the debate allow.',
    ...describeAdditions(estimate),
    ...(unpriced.length > 0 ? [`The price is unknown for ${unpriced.join(', ')}.`] : []),
    origin,
  ];
}

/** What a provider embeds, which belongs to no single call. */
function rowOfEmbedding({ additions }: Estimate): string[][] {
  const { embedding } = additions.compression;
  if (embedding === null) return [];
  const { model, tokens, costUsd } = embedding;
  const cost = costUsd === null ? 'unknown' : spread(costUsd, dollars);
  return [[`${model}, embedding`, '', spread(tokens, compact), '', cost]];
}

/** What searches of the web cost, which belong to no model. */
function rowOfSearches({ searches }: Estimate): string[][] {
  if (searches === null) return [];
  const { service, count, costUsd } = searches;
  const name = `${service}, ${spread(count, String)} searches`;
  return [[name, '', '', '', spread(costUsd, dollars)]];
}

/** What may come on top, and is counted in the figures above. */
function describeAdditions({ additions }: Estimate): string[] {
  const { continuation, repetition, compression } = additions;
  const tell = (what: string, { calls, inputTokens, outputTokens }: Addition): string[] => {
    const tokens = compact(inputTokens.high + outputTokens.high);
    const likely = `${countNoun(calls.middle, 'call is', 'calls are')} likely, ${calls.high} with ${tokens} tokens at most`;
    return calls.high === 0 ? [] : [`  ${what}: ${likely}`];
  };
  const lines = [
    ...tell('to go on with answers that were cut', continuation),
    ...tell('to ask again for what cannot be used', repetition),
  ];
  const { calls, removedTokens } = compression;
  const tight = `  prompts too long for the window: ${spread(calls, String)}, which have to lose `;
  return [
    ...(lines.length > 0 ? ['Among them:', ...lines] : []),
    ...(calls.high > 0 ? [`${tight}${spread(removedTokens, compact)} tokens`] : []),
    ...compression.documents.map(describeShortened),
    ...describeEmbedding(compression.embedding),
  ];
}

const describeEmbedding = (
  embedding: Estimate['additions']['compression']['embedding'],
): string[] =>
  embedding === null ? [] : [`    to compare their parts ${embedding.model} embeds them once`];

const describeShortened = (one: ShortenedPrompt): string =>
  `    ${one.stage}/${one.document} for ${one.model}: ${compact(one.tokens)} tokens where ${compact(one.room)} fit`;

const toRow = (name: string, sum: Amounts): string[] => [
  name,
  spread(sum.calls, String),
  spread(sum.inputTokens, compact),
  spread(sum.outputTokens, compact),
  sum.costUsd === null ? 'unknown' : spread(sum.costUsd, dollars),
];

/** `12 (8–20)`, or one figure where all are the same. */
function spread({ low, middle, high }: Range, print: (value: number) => string): string {
  const texts = [low, middle, high].map(print);
  return texts[0] === texts[2] ? texts[1]! : `${texts[1]} (${texts[0]}–${texts[2]})`;
}

/** Rows as lines with their columns under each other. */
export function align(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
}

/** A number in few digits: 12.3K. */
export const compact = (value: number): string =>
  new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 }).format(value);

/** An amount of dollars, with more digits where it is small. */
export const dollars = (value: number): string =>
  value === 0 || value >= 0.1 ? `$${value.toFixed(2)}` : `$${value.toPrecision(2)}`;

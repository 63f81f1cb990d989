import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { DialecticError } from '../errors/errors.ts';
import type { ModelsConfig } from '../models/config.ts';
import { findPrice } from '../models/prices.ts';
import { requireWithin, writeTextFile, writeTextFolder } from '../platform/folders.ts';
import { countNoun } from '../text/count-noun.ts';
import type { EvalDeps } from './ask-model.ts';
import { beats } from './choose-draft.ts';
import { readCostNote, readKept, spendingShape, writeCostNote } from './cost-note.ts';
import { addSpendings, type Spending, SpendingTally } from './spending.ts';
import {
  digestOf,
  type MadeRival,
  type PreparedText,
  requireEmptyFolder,
  takeFolder,
} from './texts.ts';
import {
  type DraftRequest,
  type Files,
  listFaults,
  rewriteDraft,
  writeDraft,
} from './write-draft.ts';

/** What a rival is made of and from. */
export type Workshop = {
  readonly deps: EvalDeps;
  readonly request: DraftRequest;
  /** Whether a person asked for this number of words: texts of another are refused. */
  readonly wordsGiven: boolean;
  /** The folder of the brief; what is there already is not written again. */
  readonly place: string;
  readonly debate: PreparedText;
  /** Who chooses among drafts. */
  readonly judge: string;
};

/** A call that is about to be made for a rival. */
export type WritingStep = { readonly text: string; readonly model: string };
type Writing<T> = AsyncGenerator<WritingStep, T, void>;

/** Makes a rival, or takes what an earlier evaluation left of it. */
export const makeRival = (kind: MadeRival, workshop: Workshop): Writing<PreparedText> =>
  MAKERS[kind](workshop);

const MAKERS: Readonly<Record<MadeRival, (workshop: Workshop) => Writing<PreparedText>>> = {
  // All rivals begin with the same draft, so that what sets them apart is what came after it.
  'one-prompt': (workshop) => draft(workshop, 1),
  'three-passes': passThrice,
  'best-of': chooseBest,
};

const draft = (workshop: Workshop, number: number): Writing<PreparedText> =>
  takeOrWrite(workshop, join('drafts', String(number)), {
    text: `draft ${number}`,
    before: [],
    write: (tally) => writeDraft(workshop.deps, workshop.request, tally),
  });

async function* passThrice(workshop: Workshop): Writing<PreparedText> {
  const { deps, request } = workshop;
  const first = yield* draft(workshop, 1);
  const { faults, spent } = yield* takeFaults(workshop, first);
  return yield* takeOrWrite(workshop, 'three-passes', {
    text: 'three passes: the rewrite',
    before: [first.spent!, spent],
    write: (tally) => rewriteDraft(deps, request, { draft: first.reading, faults }, tally),
  });
}

const spending = z.strictObject(spendingShape);
const keptFaults = z.strictObject({
  draft: z.string(),
  faults: z.array(z.string()),
  spent: spending,
});

async function* takeFaults(
  { deps, request, place }: Workshop,
  first: PreparedText,
): Writing<z.infer<typeof keptFaults>> {
  const path = join(place, 'three-passes.faults.json');
  const digest = digestOf(request.brief, [first.reading]);
  const kept = await readKept(path, keptFaults);
  if (kept?.draft === digest) return kept;
  const { model } = request;
  yield { text: 'three passes: the faults of the draft', model };
  const tally = new SpendingTally();
  const faults = await listFaults(deps, request, first.reading, tally);
  const found = { draft: digest, faults: [...faults], spent: tally.sum() };
  await writeTextFile(path, `${JSON.stringify(found, null, 2)}\n`);
  return found;
}

type Missing = {
  readonly text: string;
  /** What was spent on it before, which its note adds up. */
  readonly before: readonly Spending[];
  readonly write: (tally: SpendingTally) => Promise<Files>;
};

async function* takeOrWrite(
  { request, wordsGiven, place }: Workshop,
  path: string,
  { text, before, write }: Missing,
): Writing<PreparedText> {
  const { model, words } = request;
  const folder = join(place, path);
  await requireWithin(place, join(path, 'any'));
  const note = await readCostNote(folder);
  if (note && existsSync(folder)) {
    const isSame = note.models.join() === model && (!wordsGiven || note.wordsAsked === words);
    if (isSame) return takeFolder(folder);
    const length =
      note.wordsAsked === undefined ? 'another length' : countNoun(note.wordsAsked, 'word');
    const by = `${note.models.join(', ')}, asked for ${length}`;
    throw new DialecticError('folder_occupied', `${folder} is of ${by}; name another --out.`);
  }
  await requireEmptyFolder(folder);
  yield { text, model };
  const tally = new SpendingTally();
  const files = await write(tally);
  await writeTextFolder(folder, files);
  // Last, so that a folder with a note is whole.
  const spent = addSpendings([...before, tally.sum()]);
  await writeCostNote(folder, { models: [model], wordsAsked: words, ...spent });
  return takeFolder(folder);
}

const keptChoices = z.array(
  z.strictObject({ judge: z.string(), pair: z.string(), wins: z.boolean(), spent: spending }),
);
type Choice = z.infer<typeof keptChoices>[number];

/** More drafts teach nothing: the best of so many is rarely beaten by another. */
const MOST_DRAFTS = 50;

/**
 * As many straight drafts as the debate's money buys, each compared with the best before it by the
 * first judge; the money pays for both.
 */
async function* chooseBest(workshop: Workshop): Writing<PreparedText> {
  const money = requireMoney(workshop.debate);
  let best = yield* draft(workshop, 1);
  const drafts = [best.spent!];
  const choices: Spending[] = [];
  const costOf = (parts: readonly Spending[]): number => priced(workshop, addSpendings(parts));
  while (drafts.length < MOST_DRAFTS) {
    const next = costOf(drafts) / drafts.length + costOf(choices) / Math.max(1, choices.length);
    if (costOf([...drafts, ...choices]) + next > money) break;
    const challenger = yield* draft(workshop, drafts.length + 1);
    drafts.push(challenger.spent!);
    const { wins, spent } = yield* takeChoice(workshop, best, challenger, drafts.length);
    choices.push(spent);
    if (wins) best = challenger;
  }
  return { ...best, spent: addSpendings([...drafts, ...choices]), drafts: drafts.length };
}

async function* takeChoice(
  { deps, request, place, judge }: Workshop,
  best: PreparedText,
  challenger: PreparedText,
  number: number,
): Writing<Choice> {
  const path = join(place, 'best-of.json');
  const kept = (await readKept(path, keptChoices)) ?? [];
  const pair = digestOf(request.brief, [best.reading, challenger.reading]);
  const known = kept.find((one) => one.judge === judge && one.pair === pair);
  if (known) return known;
  yield { text: `best of drafts: draft ${number} against the best before it`, model: judge };
  const tally = new SpendingTally();
  const texts = { brief: request.brief, best: best.reading, challenger: challenger.reading };
  const wins = await beats(deps, judge, texts, tally);
  const choice = { judge, pair, wins, spent: tally.sum() };
  await writeTextFile(path, `${JSON.stringify([...kept, choice], null, 2)}\n`);
  return choice;
}

function priced({ request, judge }: Workshop, { costUsd }: Spending): number {
  if (costUsd !== null) return costUsd;
  throw unknownPrice(`${request.model} or ${judge}`);
}

const unknownPrice = (model: string): DialecticError =>
  new DialecticError(
    'price_unknown',
    `best-of counts money, and the price of ${model} is unknown.`,
  );

/** Refuses models whose cost `best-of` could not count, before any of them is paid. */
export async function requirePrices(
  models: readonly string[],
  config: ModelsConfig,
): Promise<void> {
  for (const model of models) {
    if ((await findPrice(model, config)) === null) throw unknownPrice(model);
  }
}

/** What a debate cost; refused where nobody knows it. */
export function requireMoney({ spent, folder }: PreparedText): number {
  if (spent && spent.costUsd !== null) return spent.costUsd;
  const message = `best-of takes as many drafts as the debate's money buys, and nothing says what ${folder} cost: leave --rival best-of out.`;
  throw new DialecticError('usage_invalid', message);
}

import { type ErrorData, toDialecticError } from '../errors/errors.ts';
import { createConcurrencyLimit } from '../models/concurrency-limit.ts';
import { showPair } from './as-data.ts';
import { askModel, type EvalDeps } from './ask-model.ts';
import type { Reading } from './reading.ts';
import {
  askVerdict,
  JUDGE_SYSTEM,
  type Opinion,
  ROLES,
  type Role,
  readVerdict,
  VERDICT_CONTRACT,
} from './rubric.ts';
import { type Spending, SpendingTally } from './spending.ts';
import { digestOf, type RivalName } from './texts.ts';

/** The two folders that are compared. */
export const SIDES = ['debate', 'rival'] as const;
export type Side = (typeof SIDES)[number];

/** A debate and a rival on one brief. */
export type Case = {
  readonly brief: { readonly name: string; readonly text: string };
  readonly rival: RivalName;
  readonly readings: Readonly<Record<Side, Reading>>;
};

/** Who judges what, as whom, and which folder comes first, as X. */
type Sitting = {
  readonly brief: string;
  /** More than one where several rivals came to the same text. */
  readonly rivals: readonly RivalName[];
  /** Tells the pair of texts from any other. */
  readonly pair: string;
  readonly judge: string;
  readonly role: Role['key'];
  readonly first: Side;
};

/** One judgement with the labels taken off; `reason` still speaks of X (`first`) and Y. */
export type Judgement = Sitting & {
  readonly preference: Side;
  readonly reason: string;
  readonly opinions: Readonly<Record<Side, Opinion>>;
  readonly spent: Spending;
};

/** A judgement that was not to be had. */
export type MissingJudgement = Sitting & { readonly error: ErrorData; readonly spent: Spending };

export type Judging = {
  readonly judgements: readonly Judgement[];
  readonly missing: readonly MissingJudgement[];
};

type Bench = {
  readonly judges: readonly string[];
  readonly concurrency: number;
  /** What was judged before, of these texts and others. */
  readonly kept: readonly Judgement[];
};

/** A judgement that has ended: the `count`th of `all`, those of before included. */
type JudgingStep = {
  readonly count: number;
  readonly all: number;
  readonly judged: Judgement | MissingJudgement;
};

/** Refusals that every further call of the same model would meet: it is asked nothing more. */
const LASTING = ['funds_short', 'price_unknown', 'provider_auth', 'run_stopped'];

/**
 * Has every pair judged blind by every judge in every role, in both orders, and yields new judgements
 * as they come. One that fails keeps the others, which are paid for.
 */
export async function* judgeCases(
  deps: EvalDeps,
  cases: readonly Case[],
  { judges, concurrency, kept }: Bench,
): AsyncGenerator<JudgingStep, Judging, void> {
  const limit = createConcurrencyLimit(concurrency);
  const refused = new Map<string, ErrorData>();
  const sittings = toSittings(cases, judges);
  const judged = sittings.map((own) => takeKept(own, kept));
  const running = new Map(
    sittings.flatMap((own, at) =>
      judged[at] === undefined
        ? [[at, limit.run(async () => ({ at, outcome: await trySitting(deps, own, refused) }))]]
        : [],
    ),
  );
  while (running.size > 0) {
    const { at, outcome } = await Promise.race(running.values());
    running.delete(at);
    judged[at] = outcome;
    yield { count: sittings.length - running.size, all: sittings.length, judged: outcome };
  }
  return {
    judgements: judged.flatMap((one) => (one && 'preference' in one ? one : [])),
    missing: judged.flatMap((one) => (one && 'error' in one ? one : [])),
  };
}

type OwnSitting = { readonly sitting: Sitting; readonly from: Case };

/** Both orders follow each other: where the money ends, few judgements have one order alone. */
function toSittings(cases: readonly Case[], judges: readonly string[]): OwnSitting[] {
  const pairs = Map.groupBy(cases, ({ brief, readings }) =>
    JSON.stringify([brief.name, digestOf(brief.text, [readings.debate, readings.rival])]),
  );
  return [...pairs].flatMap(([key, same]) => {
    const [brief, pair] = JSON.parse(key) as [string, string];
    const rivals = same.map(({ rival }) => rival);
    return judges.flatMap((judge) =>
      ROLES.flatMap(({ key: role }) =>
        SIDES.map((first) => ({
          sitting: { brief, rivals, pair, judge, role, first },
          from: same[0]!,
        })),
      ),
    );
  });
}

function takeKept(
  { sitting }: OwnSitting,
  kept: readonly Judgement[],
): Judgement | MissingJudgement | undefined {
  const { brief, pair, judge, role, first } = sitting;
  const found = kept.find(
    (one) =>
      one.brief === brief &&
      one.pair === pair &&
      one.judge === judge &&
      one.role === role &&
      one.first === first,
  );
  return found && { ...found, rivals: sitting.rivals };
}

async function trySitting(
  deps: EvalDeps,
  own: OwnSitting,
  refused: Map<string, ErrorData>,
): Promise<Judgement | MissingJudgement> {
  const { sitting } = own;
  const tally = new SpendingTally();
  const before = refused.get(sitting.judge);
  if (before) return { ...sitting, error: before, spent: tally.sum() };
  try {
    return await sit(deps, own, tally);
  } catch (thrown) {
    const error = toDialecticError(thrown).toJSON();
    if (LASTING.includes(error.code)) refused.set(sitting.judge, error);
    return { ...sitting, error, spent: tally.sum() };
  }
}

async function sit(
  deps: EvalDeps,
  { sitting, from: { brief, readings } }: OwnSitting,
  tally: SpendingTally,
): Promise<Judgement> {
  const { judge, role, first } = sitting;
  const second: Side = first === 'debate' ? 'rival' : 'debate';
  const question = {
    model: judge,
    system: JUDGE_SYSTEM,
    material: showPair(brief.text, readings[first], readings[second]),
    prompt: askVerdict(ROLES.find(({ key }) => key === role)!),
    key: 'judgement',
    contract: VERDICT_CONTRACT,
  };
  const verdict = readVerdict(await askModel(deps, question, tally));
  const opinions = { [first]: verdict.x, [second]: verdict.y } as Record<Side, Opinion>;
  const preference = verdict.preference === 'X' ? first : second;
  return { ...sitting, preference, reason: verdict.reason, opinions, spent: tally.sum() };
}

import { type ErrorData, toDialecticError } from '../errors/errors.ts';
import { createConcurrencyLimit } from '../models/concurrency-limit.ts';
import { asAttribute } from '../text/prompt-data.ts';
import { asData } from './as-data.ts';
import { askModel, type EvalDeps } from './ask-model.ts';
import type { Reading } from './reading.ts';
import {
  askVerdict,
  type Label,
  type Opinion,
  ROLES,
  type Role,
  readVerdict,
  VERDICT_CONTRACT,
} from './rubric.ts';
import { type Spending, SpendingTally } from './spending.ts';

/** The two folders that are compared. */
export const SIDES = ['debate', 'single'] as const;
export type Side = (typeof SIDES)[number];

/** Who judges, as whom, and which folder comes first, as X. */
type Sitting = { readonly judge: string; readonly role: Role['key']; readonly first: Side };

/** One judgement with the labels taken off; `reason` still speaks of X (`first`) and Y. */
export type Judgement = Sitting & {
  readonly preference: Side;
  readonly reason: string;
} & Readonly<Record<Side, Opinion>>;

/** A judgement that was not to be had. */
export type MissingJudgement = Sitting & { readonly error: ErrorData };

export type Judging = {
  readonly judgements: readonly Judgement[];
  readonly missing: readonly MissingJudgement[];
  /** What the judges took. */
  readonly judging: Spending;
};

const SYSTEM =
  'You judge plans: what you find, not what would please. You answer with one JSON object in the language of the request.';

type Case = {
  readonly brief: string;
  readonly readings: Readonly<Record<Side, Reading>>;
  readonly judges: readonly string[];
  readonly concurrency: number;
};

/** How often each judge judges. */
export const SITTINGS = SIDES.length * ROLES.length;

/**
 * Has both folders judged blind by every judge in every role, in both orders, and yields judgements
 * as they come. One that fails keeps the others, which are paid for.
 */
export async function* judgeFolders(
  deps: EvalDeps,
  folders: Case,
): AsyncGenerator<Judgement | MissingJudgement, Judging, void> {
  const tally = new SpendingTally();
  const limit = createConcurrencyLimit(folders.concurrency);
  const sittings = folders.judges.flatMap((judge) =>
    SIDES.flatMap((first) => ROLES.map(({ key }): Sitting => ({ judge, role: key, first }))),
  );
  const running = new Map(
    sittings.map((sitting, at) => [
      at,
      limit.run(async () => ({ at, outcome: await trySitting(deps, folders, sitting, tally) })),
    ]),
  );
  const judged: (Judgement | MissingJudgement)[] = [];
  while (running.size > 0) {
    const { at, outcome } = await Promise.race(running.values());
    running.delete(at);
    judged[at] = outcome;
    yield outcome;
  }
  return {
    judgements: judged.flatMap((one) => ('error' in one ? [] : one)),
    missing: judged.flatMap((one) => ('error' in one ? one : [])),
    judging: tally.sum(),
  };
}

const trySitting = (
  deps: EvalDeps,
  folders: Case,
  sitting: Sitting,
  tally: SpendingTally,
): Promise<Judgement | MissingJudgement> =>
  sit(deps, folders, sitting, tally).catch((thrown: unknown) => ({
    ...sitting,
    error: toDialecticError(thrown).toJSON(),
  }));

async function sit(
  deps: EvalDeps,
  { brief, readings }: Case,
  sitting: Sitting,
  tally: SpendingTally,
): Promise<Judgement> {
  const { judge, role, first } = sitting;
  const second: Side = first === 'debate' ? 'single' : 'debate';
  const question = {
    model: judge,
    system: SYSTEM,
    material: [
      `<request>\n${asData(brief)}\n</request>`,
      showFolder('X', readings[first]),
      showFolder('Y', readings[second]),
    ].join('\n\n'),
    prompt: askVerdict(ROLES.find(({ key }) => key === role)!),
    key: 'judgement',
    contract: VERDICT_CONTRACT,
  };
  const verdict = readVerdict(await askModel(deps, question, tally));
  const opinions = { [first]: verdict.x, [second]: verdict.y } as Record<Side, Opinion>;
  const preference = verdict.preference === 'X' ? first : second;
  return { ...sitting, preference, reason: verdict.reason, ...opinions };
}

/** A judge cannot feel how long a text is: the time that it takes a person is told. */
function showFolder(label: Label, { files, words, minutes }: Reading): string {
  const shown = files.map(
    ({ name, text }) => `<file name="${asAttribute(name)}">\n${asData(text)}\n</file>`,
  );
  const head = `<folder label="${label}" words="${words}" minutes_of_reading="${minutes}">`;
  return [head, ...shown, '</folder>'].join('\n');
}

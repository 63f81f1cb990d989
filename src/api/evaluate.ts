import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { claimFolder, requireFolder, writeOwned } from '../documents/owned-folder.ts';
import { constructPath } from '../documents/paths.ts';
import { toDialecticError } from '../errors/errors.ts';
import { type CostNote, writeCostNote } from '../eval/cost-note.ts';
import { describeEvaluation } from '../eval/describe-evaluation.ts';
import { concludeEvaluation, type Evaluation, type PreparedSide } from '../eval/evaluation.ts';
import {
  type Judgement,
  type Judging,
  judgeFolders,
  type MissingJudgement,
  SITTINGS,
} from '../eval/judge-folders.ts';
import { readDebateFolder, readPlainFolder } from '../eval/read-folder.ts';
import { makeSingle, requireEmptyFolder, takeDebate, takeSingle } from '../eval/sides.ts';
import { createModelProvider } from '../models/provider.ts';
import { requireModels } from '../models/require-models.ts';
import { readTextWithin } from '../platform/folders.ts';
import type { RunResult } from '../session/summary.ts';
import { chargeProvider } from '../wallet/charged-provider.ts';
import type { Store } from './store.ts';

/** Two folders that answer one request, and who judges them. */
export type EvaluationOptions = {
  /** The request that both folders answer. */
  readonly brief: string;
  /** The folder of a debate; OUT/debate where absent, which a run must have written. */
  readonly debate?: string | undefined;
  /** A folder of Markdown, or the model that is asked to write one with a single prompt. */
  readonly single:
    | { readonly folder: string }
    | {
        readonly model: string;
        /** How many words it is asked for; as many as the debate has where absent. */
        readonly words?: number | undefined;
      };
  /** The models that judge, each in every role and both orders. */
  readonly judges: readonly string[];
  /** Where OUT/single, the table and the judgements go. */
  readonly out: string;
  /** How many calls are made at a time; 4 where absent. */
  readonly concurrency?: number | undefined;
};

/** What happens during an evaluation. */
export type EvaluationEvent =
  | { readonly kind: 'single-asked'; readonly model: string; readonly words: number }
  | {
      readonly kind: 'judgement-ended';
      /** How many have ended, and how many there will be. */
      readonly count: number;
      readonly all: number;
      readonly judged: Judgement | MissingJudgement;
    }
  /** The last one; the same stands in OUT/table.md and OUT/judgements.json. */
  | { readonly kind: 'evaluation-ended'; readonly evaluation: Evaluation };

const ownerOf = (brief: string): string => `evaluation/${hash('sha256', brief, 'hex')}`;
const debateOf = ({ debate, out }: EvaluationOptions): string => debate ?? join(out, 'debate');

/**
 * Checks the folders before a debate is paid for: a given one must hold what is to be judged, and no
 * files of an earlier evaluation may lie where this one writes.
 */
export async function checkEvaluation(options: EvaluationOptions): Promise<void> {
  const { brief, debate, single, out } = options;
  await requireFolder(out, ownerOf(brief));
  if (debate === undefined) await requireEmptyFolder(debateOf(options));
  else await readDebateFolder(debate);
  if ('model' in single) await requireEmptyFolder(join(out, 'single'));
  else await readPlainFolder(single.folder);
}

/** Makes the folder that of this evaluation; a debate may be written into it from now on. */
export const claimEvaluation = ({ brief, out }: EvaluationOptions): Promise<void> =>
  claimFolder(out, ownerOf(brief));

/**
 * Has a debate's folder judged blind against that of a single prompt. `resultOf` reads a session of
 * the store, which knows what the debate has cost.
 */
export async function* evaluate(
  { database, tenantId, models: config }: Pick<Store, 'database' | 'tenantId' | 'models'>,
  options: EvaluationOptions,
  resultOf: (session: string) => Promise<RunResult>,
): AsyncGenerator<EvaluationEvent, void, void> {
  const { brief, single: wanted, judges, out, concurrency = 4 } = options;
  const owner = ownerOf(brief);
  requireModels([...('model' in wanted ? [wanted.model] : []), ...judges], config);
  await requireFolder(out, owner);
  if ('model' in wanted) await requireEmptyFolder(join(out, 'single'));
  // Neither the single prompt nor a judgement belongs to a session: the user's wallet pays.
  const place = { database, tenantId, config, purpose: 'evaluation' as const, sessionId: null };
  const deps = { provider: chargeProvider(createModelProvider(config), place), config };
  const debate = await takeDebate(debateOf(options), () => findCost(options, resultOf));
  await claimFolder(out, owner);
  let wordsAsked: number | null = null;
  let single: PreparedSide;
  if ('model' in wanted) {
    const { model, words = debate.reading.words } = wanted;
    wordsAsked = words;
    yield { kind: 'single-asked', model, words };
    single = await makeSingle(deps, { model, brief, words }, join(out, 'single'));
  } else single = await takeSingle(wanted.folder);
  const readings = { debate: debate.reading, single: single.reading };
  const judging = yield* tellJudgements(
    judgeFolders(deps, { brief, readings, judges, concurrency }),
    judges.length * SITTINGS,
  );
  const evaluation = concludeEvaluation({ debate, single }, judging, wordsAsked);
  const files = new Map([
    ['table.md', `${describeEvaluation(evaluation).join('\n')}\n`],
    ['judgements.json', `${JSON.stringify(evaluation, null, 2)}\n`],
  ]);
  await writeOwned(out, owner, files);
  yield { kind: 'evaluation-ended', evaluation };
}

async function* tellJudgements(
  judging: AsyncGenerator<Judgement | MissingJudgement, Judging, void>,
  all: number,
): AsyncGenerator<EvaluationEvent, Judging, void> {
  for (let count = 1; ; count++) {
    const step = await judging.next();
    if (step.done) return step.value;
    yield { kind: 'judgement-ended', count, all, judged: step.value };
  }
}

const settingsFile = z.object({
  session: z.object({ id: z.string() }),
  models: z.array(z.object({ model: z.string() })).default([]),
});

/** Undefined for what is no JSON, which no settings are either. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What the session behind a debate's folder cost, where this store has it. */
async function findCost(
  options: EvaluationOptions,
  resultOf: (session: string) => Promise<RunResult>,
): Promise<CostNote | null> {
  const folder = debateOf(options);
  const path = constructPath({ kind: 'project_settings' });
  if (!existsSync(join(folder, path))) return null;
  const settings = settingsFile.safeParse(parseJson(await readTextWithin(folder, path)));
  if (!settings.success) return null;
  const { session, models } = settings.data;
  try {
    const { calls, usage } = await resultOf(session.id);
    const { inputTokens, outputTokens, costUsd } = usage;
    const writers = models.map(({ model }) => model);
    const note = { models: writers, calls, inputTokens, outputTokens, costUsd };
    // A later evaluation of this folder may have another store.
    if (options.debate === undefined) await writeCostNote(folder, note);
    return note;
  } catch (thrown) {
    if (toDialecticError(thrown).code === 'not_found') return null;
    throw thrown;
  }
}

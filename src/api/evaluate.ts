import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { claimFolder, requireFolder, writeOwned } from '../documents/owned-folder.ts';
import { constructPath } from '../documents/paths.ts';
import { DialecticError, toDialecticError } from '../errors/errors.ts';
import { type EvalDeps, requireGoingOn } from '../eval/ask-model.ts';
import { writeCostNote } from '../eval/cost-note.ts';
import { describeEvaluation } from '../eval/describe-evaluation.ts';
import { concludeEvaluation, type Evaluation, type PreparedBrief } from '../eval/evaluation.ts';
import {
  type Case,
  type Judgement,
  judgeCases,
  type MissingJudgement,
} from '../eval/judge-cases.ts';
import { readKeptJudgements } from '../eval/kept-judgements.ts';
import { makeRival, requireMoney, type WritingStep } from '../eval/make-rival.ts';
import { readDebateFolder, readPlainFolder } from '../eval/read-folder.ts';
import {
  type MadeRival,
  type Origin,
  originOf,
  type PreparedText,
  takeDebate,
  takeFolder,
} from '../eval/texts.ts';
import { createModelProvider } from '../models/provider.ts';
import { requireModels } from '../models/require-models.ts';
import { readTextWithin } from '../platform/folders.ts';
import type { RunResult } from '../session/summary.ts';
import { allowanceOf } from '../wallet/allowance.ts';
import { chargeProvider } from '../wallet/charged-provider.ts';
import type { RunBudget } from '../wallet/session-budgets.ts';
import type { Store } from './store.ts';

/** A request, and folders that answer it. */
export type EvaluatedBrief = {
  /** Names its folder below OUT, so that no other brief may have it. */
  readonly name: string;
  readonly text: string;
  /** The folder of a debate; OUT/NAME/debate where absent, which a run must have written. */
  readonly debate?: string | undefined;
  /** A folder of Markdown that the debate is compared with, beside those that are made. */
  readonly given?: string | undefined;
};

/** Debates on briefs, what they are compared with, and who judges. */
export type EvaluationOptions = {
  readonly briefs: readonly EvaluatedBrief[];
  /** What one model writes against the debates. */
  readonly rivals?:
    | {
        readonly model: string;
        readonly kinds: readonly MadeRival[];
        /** How many words it is asked for; as many as the debate has where absent. */
        readonly words?: number | undefined;
      }
    | undefined;
  /** The models that judge, each in every role and both orders; the first chooses among drafts. */
  readonly judges: readonly string[];
  /** Where the texts, the tables and the judgements go; what is there already is not paid for again. */
  readonly out: string;
  /** What this evaluation may spend; the debates are paid for by then. */
  readonly budget?: RunBudget | undefined;
  /** How many judges are asked at a time; 4 where absent. */
  readonly concurrency?: number | undefined;
  /** Stops it: calls under way end and are saved, and no other begins. */
  readonly signal?: AbortSignal | undefined;
};

/** What happens during an evaluation. */
export type EvaluationEvent =
  | ({ readonly kind: 'text-asked'; readonly brief: string } & WritingStep)
  | {
      readonly kind: 'judgement-ended';
      /** How many there are now, those of earlier evaluations included, and how many there will be. */
      readonly count: number;
      readonly all: number;
      readonly judged: Judgement | MissingJudgement;
    }
  /** The last one; the same stands in OUT/table.md and OUT/evaluation.json. */
  | { readonly kind: 'evaluation-ended'; readonly evaluation: Evaluation };

/** Any evaluation may go on in the folder of another; below it each brief has a folder of its own. */
const OWNER = 'evaluation';
const ownerOf = ({ text }: EvaluatedBrief): string => `evaluation/${hash('sha256', text, 'hex')}`;
const placeOf = (out: string, { name }: EvaluatedBrief): string => join(out, name);

/** Where the debate on a brief is, or goes. */
export const debateFolderOf = (out: string, brief: EvaluatedBrief): string =>
  brief.debate ?? join(placeOf(out, brief), 'debate');

/**
 * Checks the folders before a debate is paid for: a given one must hold what is to be judged, and no
 * files of others may lie where this one writes.
 */
export async function checkEvaluation({ out, briefs }: EvaluationOptions): Promise<void> {
  requireNames(briefs.map(({ name }) => name));
  await requireFolder(out, OWNER);
  for (const brief of briefs) {
    await requireFolder(placeOf(out, brief), ownerOf(brief));
    if (brief.debate !== undefined) await readDebateFolder(brief.debate);
    if (brief.given !== undefined) await readPlainFolder(brief.given);
  }
}

/** Names become folders, which file systems may not tell apart by the case of letters. */
function requireNames(names: readonly string[]): void {
  for (const [at, name] of names.entries()) {
    const isTaken = names.slice(0, at).some((one) => one.toLowerCase() === name.toLowerCase());
    if (isTaken) throw new DialecticError('usage_invalid', `Two briefs have the name ${name}.`);
    if (/^[^./\\][^/\\]*$/.test(name)) continue;
    const message = `A brief has a name that can be that of a folder, and "${name}" cannot.`;
    throw new DialecticError('usage_invalid', message);
  }
}

/** Makes the folders those of this evaluation; debates may be written into them from now on. */
export async function claimEvaluation({ out, briefs }: EvaluationOptions): Promise<void> {
  await claimFolder(out, OWNER);
  for (const brief of briefs) await claimFolder(placeOf(out, brief), ownerOf(brief));
}

type ReadResult = (session: string) => Promise<RunResult>;

/**
 * Has the folders of debates judged blind against their rivals, which are written first. `resultOf`
 * reads a session of the store, which knows what a debate has cost.
 */
export async function* evaluate(
  { database, tenantId, models: config }: Pick<Store, 'database' | 'tenantId' | 'models'>,
  options: EvaluationOptions,
  resultOf: ReadResult,
): AsyncGenerator<EvaluationEvent, void, void> {
  const { briefs, rivals, judges, out, budget = {}, signal } = options;
  requireModels([...(rivals ? [rivals.model] : []), ...judges], config);
  await checkEvaluation(options);
  // Neither a rival nor a judgement belongs to a session: the user's wallet pays.
  const purpose = 'evaluation' as const;
  const payer = { database, tenantId, config, purpose, sessionId: null, most: allowanceOf(budget) };
  const provider = chargeProvider(createModelProvider(config), payer);
  const deps: EvalDeps = { provider, config, signal };
  const debates: PreparedText[] = [];
  for (const brief of briefs) {
    const folder = debateFolderOf(out, brief);
    debates.push(await takeDebate(folder, () => findOrigin(out, brief, resultOf)));
  }
  if (rivals?.kinds.includes('best-of')) debates.forEach(requireMoney);
  await claimEvaluation(options);
  const prepared: PreparedBrief[] = [];
  for (const [at, brief] of briefs.entries()) {
    prepared.push(yield* prepare(deps, options, brief, debates[at]!));
  }
  const evaluation = yield* judge(deps, options, prepared);
  const files = new Map([
    ['table.md', `${describeEvaluation(evaluation).join('\n')}\n`],
    ['evaluation.json', `${JSON.stringify(evaluation, null, 2)}\n`],
  ]);
  await writeOwned(out, OWNER, files);
  yield { kind: 'evaluation-ended', evaluation };
}

/** Writes what a debate is compared with on one brief, unless it is there. */
async function* prepare(
  deps: EvalDeps,
  { rivals: wanted, judges, out }: EvaluationOptions,
  brief: EvaluatedBrief,
  debate: PreparedText,
): AsyncGenerator<EvaluationEvent, PreparedBrief, void> {
  const rivals: PreparedBrief['rivals'][number][] = [];
  if (wanted) {
    const { model, words = debate.reading.words, kinds } = wanted;
    const workshop = {
      deps,
      request: { model, brief: brief.text, words },
      wordsGiven: wanted.words !== undefined,
      place: placeOf(out, brief),
      debate,
      judge: judges[0]!,
    };
    for (const rival of kinds) {
      const making = makeRival(rival, workshop);
      for (;;) {
        requireGoingOn(deps.signal);
        const step = await making.next();
        if (step.done) {
          rivals.push({ ...step.value, rival });
          break;
        }
        yield { kind: 'text-asked', brief: brief.name, ...step.value };
      }
    }
  }
  if (brief.given !== undefined)
    rivals.push({ ...(await takeFolder(brief.given)), rival: 'given' });
  return { name: brief.name, text: brief.text, debate, rivals };
}

/** Has all pairs judged; every judgement is saved as it comes. */
async function* judge(
  deps: EvalDeps,
  { briefs, judges, out, concurrency = 4 }: EvaluationOptions,
  prepared: readonly PreparedBrief[],
): AsyncGenerator<EvaluationEvent, Evaluation, void> {
  const kept = new Map<string, readonly Judgement[]>();
  for (const brief of briefs) {
    kept.set(brief.name, await readKeptJudgements(join(placeOf(out, brief), JUDGEMENTS)));
  }
  const cases = prepared.flatMap(({ name, text, debate, rivals }) =>
    rivals.map(
      ({ rival, reading }): Case => ({
        brief: { name, text },
        rival,
        readings: { debate: debate.reading, rival: reading },
      }),
    ),
  );
  const judging = judgeCases(deps, cases, { judges, concurrency, kept: [...kept.values()].flat() });
  for (;;) {
    const step = await judging.next();
    if (step.done) return concludeEvaluation(prepared, step.value, judges);
    const { judged, count, all } = step.value;
    if ('preference' in judged) {
      const brief = briefs.find(({ name }) => name === judged.brief)!;
      const own = [...kept.get(brief.name)!, judged];
      kept.set(brief.name, own);
      const text = `${JSON.stringify(own, null, 2)}\n`;
      await writeOwned(placeOf(out, brief), ownerOf(brief), new Map([[JUDGEMENTS, text]]));
    }
    yield { kind: 'judgement-ended', count, all, judged };
  }
}

const JUDGEMENTS = 'judgements.json';

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

/** Who wrote a debate's folder, and what its session cost where this store has it. */
async function findOrigin(
  out: string,
  brief: EvaluatedBrief,
  resultOf: ReadResult,
): Promise<Origin | null> {
  const folder = debateFolderOf(out, brief);
  const path = constructPath({ kind: 'project_settings' });
  if (!existsSync(join(folder, path))) return null;
  const settings = settingsFile.safeParse(parseJson(await readTextWithin(folder, path)));
  if (!settings.success) return null;
  const { session, models } = settings.data;
  const writers = models.map(({ model }) => model);
  try {
    const { calls, usage } = await resultOf(session.id);
    const { inputTokens, outputTokens, costUsd } = usage;
    const note = { models: writers, calls, inputTokens, outputTokens, costUsd };
    // A later evaluation of this folder may have another store.
    if (brief.debate === undefined) await writeCostNote(folder, note);
    return originOf(note);
  } catch (thrown) {
    if (toDialecticError(thrown).code === 'not_found') return { models: writers, spent: null };
    throw thrown;
  }
}

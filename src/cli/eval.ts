import { hash } from 'node:crypto';
import { join } from 'node:path';
import { Command } from 'commander';
import { claimFolder, requireFolder, writeOwned } from '../documents/owned-folder.ts';
import { DialecticError } from '../errors/errors.ts';
import { describeEvaluation } from '../eval/describe-evaluation.ts';
import { concludeEvaluation, type Evaluation } from '../eval/evaluation.ts';
import { type Judgement, judgeFolders, type MissingJudgement } from '../eval/judge-folders.ts';
import { preflightModels } from '../models/preflight.ts';
import { createModelProvider } from '../models/provider.ts';
import { requireModels } from '../models/require-models.ts';
import { readRunBudget } from '../wallet/session-budgets.ts';
import { readBrief } from './brief.ts';
import { addBudgetOptions, budgetOf } from './budget.ts';
import { readConfiguration } from './configuration.ts';
import { checkEvalOptions, type EvalOptions, toRunOptions } from './eval-options.ts';
import {
  makeDebate,
  makeSingle,
  requireEmptyFolder,
  takeDebate,
  takeSingle,
} from './eval-sides.ts';
import { addScopeOptions, collect, PROCESS_HELP, prepareRun } from './new-run.ts';
import { printResult, tell } from './output.ts';
import { addPreflightOption, tellChecks } from './preflight.ts';
import { readConcurrency } from './run.ts';

/** `dialectic eval`: is a debate's folder better than what one prompt gives? */
export function evalCommand(): Command {
  return addPreflightOption(addScopeOptions(addBudgetOptions(new Command('eval'))))
    .description("judge a debate's folder blind against that of a single prompt")
    .argument('<brief>', 'a text file, or - for standard input')
    .option('--single <model>', 'the model that gets the single prompt')
    .option('--debate <model>', 'a participant of the debate; repeat for more', collect, [])
    .option('--judge <model>', 'a judge; repeat for more', collect, [])
    .option('-o, --out <dir>', 'where both folders and the judgements go', 'dialectic-eval')
    .option('--words <n>', "words asked of the single prompt (default: the debate's)")
    .option('--single-folder <dir>', 'take this folder of Markdown in place of --single')
    .option('--debate-folder <dir>', "take this debate's folder in place of --debate")
    .option('-p, --process <name>', PROCESS_HELP)
    .option('-c, --concurrency <n>', 'calls at a time', '4')
    .option('--data <dir>', 'data directory (default: DIALECTIC_DATA or ~/.dialectic)')
    .option('--json', 'print the result as JSON')
    .action(evaluate);
}

async function evaluate(briefPath: string, options: EvalOptions): Promise<void> {
  const { single, debate, judge: judges, out } = options;
  const words = checkEvalOptions(options);
  const config = readConfiguration();
  const models = [...(single ? [single] : []), ...debate, ...judges];
  requireModels(models, config);
  await readRunBudget(budgetOf(options), debate, config);
  const concurrency = readConcurrency(options.concurrency);
  const run = debate.length > 0 ? await prepareRun(briefPath, toRunOptions(options)) : null;
  const brief = run?.brief ?? (await readBrief(briefPath)).brief;
  const owner = `evaluation/${hash('sha256', brief, 'hex')}`;
  await requireFolder(out, owner);
  if (run) await requireEmptyFolder(join(out, 'debate'));
  if (single) await requireEmptyFolder(join(out, 'single'));
  if (options.preflight !== false) tellChecks(await preflightModels(models, config));
  await claimFolder(out, owner);
  // Given folders are read first: a wrong one must not be found out after a paid debate.
  const givenSingle = options.singleFolder ? await takeSingle(options.singleFolder) : null;
  const debated = run
    ? await makeDebate(run, { ...options, preflight: false }, join(out, 'debate'))
    : await takeDebate(options.debateFolder!, options.data);
  const deps = { provider: createModelProvider(config), config };
  const wordsAsked = single ? (words ?? debated.reading.words) : null;
  const request = { model: single!, brief, words: wordsAsked! };
  const singled = givenSingle ?? (await makeSingle(deps, request, join(out, 'single')));
  const readings = { debate: debated.reading, single: singled.reading };
  const progress = { concurrency, onJudged: tellProgress(judges.length * 6) };
  const judging = await judgeFolders(deps, { brief, readings, judges, ...progress });
  const sides = { debate: debated, single: singled };
  await report(concludeEvaluation(sides, judging, wordsAsked), owner, options);
}

function tellProgress(all: number): (judged: Judgement | MissingJudgement) => void {
  let done = 0;
  return (judged) => {
    const { judge, role, first } = judged;
    const outcome = 'error' in judged ? judged.error.message : `prefers ${judged.preference}`;
    tell(`Judgement ${++done} of ${all}: ${judge} as ${role}, ${first} first: ${outcome}`);
  };
}

/** Keeps and prints what was found; what is missing of it also ends the command with an error. */
async function report(
  evaluation: Evaluation,
  owner: string,
  { out, json }: EvalOptions,
): Promise<void> {
  const { missing, judgements } = evaluation;
  const lines = describeEvaluation(evaluation);
  const path = join(out, 'judgements.json');
  const files = new Map([
    ['table.md', `${lines.join('\n')}\n`],
    ['judgements.json', `${JSON.stringify(evaluation, null, 2)}\n`],
  ]);
  await writeOwned(out, owner, files);
  printResult(json === true, evaluation, lines);
  const [first] = missing;
  if (!first) return;
  const all = missing.length + judgements.length;
  const message = `${missing.length} of ${all} judgements are missing; the others stand in ${path}. ${first.error.message}`;
  throw new DialecticError(first.error.code, message, { cause: first.error });
}

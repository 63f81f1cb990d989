import { join } from 'node:path';
import { Command } from 'commander';
import type { Dialectic } from '../api/dialectic.ts';
import {
  checkEvaluation,
  claimEvaluation,
  type EvaluationEvent,
  type EvaluationOptions,
} from '../api/evaluate.ts';
import type { RunOptions } from '../api/run-options.ts';
import { DialecticError, toDialecticError } from '../errors/errors.ts';
import { describeEvaluation } from '../eval/describe-evaluation.ts';
import type { Evaluation } from '../eval/evaluation.ts';
import { requireModels } from '../models/require-models.ts';
import { readRunBudget } from '../wallet/session-budgets.ts';
import { findTerminal } from './ask-questions.ts';
import { readBrief } from './brief.ts';
import { addBudgetOptions, budgetOf } from './budget.ts';
import { readConfiguration } from './configuration.ts';
import { checkEvalOptions, type EvalOptions, toEvaluation, toRunOptions } from './eval-options.ts';
import { withExample } from './help-text.ts';
import { addScopeOptions, collect, PROCESS_HELP, prepareRun } from './new-run.ts';
import { printResult, tell } from './output.ts';
import { addPreflightOption, askModels, tellChecks } from './preflight.ts';
import { carryOut, requireCompleted } from './run.ts';
import { withModels } from './store.ts';

const USAGE =
  '--judge <model> (--single <model> | --single-folder <dir>) ' +
  '(--debate <model> | --debate-folder <dir>) [options] <brief>';
const EXAMPLE =
  'dialectic eval brief.md --debate-folder brief-plan --single openai/gpt-5 --judge google/gemini-3-pro';

/** `dialectic eval`: is a debate's folder better than what one prompt gives? */
export function evalCommand(): Command {
  const command = addPreflightOption(addScopeOptions(addBudgetOptions(new Command('eval'))))
    .description("judge a debate's folder blind against that of a single prompt")
    .usage(USAGE)
    .argument('<brief>', 'a text file, - for standard input, or the words')
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
    .option('-y, --yes', 'ask nothing: yes to every question')
    .action(evaluate);
  return withExample(command, EXAMPLE);
}

async function evaluate(briefPath: string, options: EvalOptions): Promise<void> {
  const { single, debate, judge: judges, out, data } = options;
  checkEvalOptions(options);
  const config = readConfiguration();
  const models = [...(single ? [single] : []), ...debate, ...judges];
  requireModels(models, config);
  await readRunBudget(budgetOf(options), debate, config);
  const run = debate.length > 0 ? await prepareRun(briefPath, toRunOptions(options)) : null;
  const brief = run?.brief ?? (await readBrief(briefPath)).brief;
  const evaluation = toEvaluation(brief, options);
  await checkEvaluation(evaluation);
  if (options.preflight !== false) {
    const budget = budgetOf(options);
    tellChecks(await askModels(models, config, (ask) => withModels(data, ask), budget));
  }
  await claimEvaluation(evaluation);
  if (run) await holdDebate(run, { ...options, preflight: false, out: join(out, 'debate') });
  report(await withModels(data, (dialectic) => judgeSides(dialectic, evaluation)), options);
}

/** Debates as `dialectic run` would; one that rests early is an error, which says how to go on. */
async function holdDebate(
  run: RunOptions,
  options: Parameters<typeof carryOut>[1] & { readonly out: string },
): Promise<void> {
  const { out } = options;
  try {
    requireCompleted(await carryOut(run, options, findTerminal(options)));
  } catch (thrown) {
    if (['run_stopped', 'run_incomplete'].includes(toDialecticError(thrown).code)) {
      tell(`Let the session end with --out ${out}, then evaluate with --debate-folder ${out}.`);
    }
    throw thrown;
  }
  tell(`The debate's folder is ${out}; --debate-folder takes it without a new debate.`);
}

async function judgeSides(dialectic: Dialectic, options: EvaluationOptions): Promise<Evaluation> {
  for await (const event of dialectic.evaluate(options)) {
    if (event.kind === 'evaluation-ended') return event.evaluation;
    tell(describeEvent(event));
  }
  throw new DialecticError('internal_error', 'The evaluation ended without a result.');
}

function describeEvent(event: Exclude<EvaluationEvent, { kind: 'evaluation-ended' }>): string {
  if (event.kind === 'single-asked') {
    const { model, words } = event;
    return `One prompt: ${model} is asked for five files of about ${words} words in all.`;
  }
  const { count, all, judged } = event;
  const outcome = 'error' in judged ? judged.error.message : `prefers ${judged.preference}`;
  const sitting = `${judged.judge} as ${judged.role}, ${judged.first} first`;
  return `Judgement ${count} of ${all}: ${sitting}: ${outcome}`;
}

/** Prints what was found; what is missing of it also ends the command with an error. */
function report(evaluation: Evaluation, { out, json }: EvalOptions): void {
  const { missing, judgements } = evaluation;
  printResult(json === true, evaluation, describeEvaluation(evaluation));
  const [first] = missing;
  if (!first) return;
  const all = missing.length + judgements.length;
  const path = join(out, 'judgements.json');
  const message = `${missing.length} of ${all} judgements are missing; the others stand in ${path}. ${first.error.message}`;
  throw new DialecticError(first.error.code, message, { details: first.error.details });
}

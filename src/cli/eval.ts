import { join } from 'node:path';
import { Command } from 'commander';
import type { Dialectic } from '../api/dialectic.ts';
import {
  checkEvaluation,
  claimEvaluation,
  debateFolderOf,
  type EvaluationEvent,
  type EvaluationOptions,
} from '../api/evaluate.ts';
import type { RunOptions } from '../api/run-options.ts';
import { DialecticError } from '../errors/errors.ts';
import { describeEvaluation } from '../eval/describe-evaluation.ts';
import type { Evaluation } from '../eval/evaluation.ts';
import { requirePrices } from '../eval/make-rival.ts';
import { MADE_RIVALS } from '../eval/texts.ts';
import type { ModelsConfig } from '../models/config.ts';
import { findPrice, type ModelPrice } from '../models/prices.ts';
import { requireModels } from '../models/require-models.ts';
import { readRunBudget } from '../wallet/session-budgets.ts';
import { readBrief } from './brief.ts';
import { addBudgetOptions, budgetOf } from './budget.ts';
import { readConfiguration } from './configuration.ts';
import { agree, findConsent } from './confirm.ts';
import { checkEvalOptions, type EvalOptions, toEvaluation, toRunOptions } from './eval-options.ts';
import { withExample } from './help-text.ts';
import { holdDebate, SharedBudget } from './hold-debate.ts';
import { addScopeOptions, collect, PROCESS_HELP, prepareRun } from './new-run.ts';
import { printResult, tell } from './output.ts';
import { toFolderName } from './plan-folder.ts';
import { addPreflightOption, askModels, tellChecks } from './preflight.ts';
import { withModels } from './store.ts';

const USAGE =
  '--judge <model> (--single <model> | --single-folder <dir>) ' +
  '(--debate <model> | --debate-folder <dir>) [options] <brief...>';
const EXAMPLE =
  'dialectic eval brief.md --debate-folder brief-plan --single openai/gpt-5 --judge google/gemini-2.5-pro';

/** `dialectic eval`: is a debate's folder better than what one model gives alone? */
export function evalCommand(): Command {
  const command = addPreflightOption(addScopeOptions(addBudgetOptions(new Command('eval'))))
    .description('judge debates blind against what one model writes alone')
    .usage(USAGE)
    .argument('<brief...>', 'text files, - for standard input, or the words')
    .option('--single <model>', 'the model that writes against the debate')
    .option('--rival <kind>', RIVAL_HELP, collect, [])
    .option('--debate <model>', 'a participant of the debate; repeat for more', collect, [])
    .option('--judge <model>', 'a judge; repeat for more', collect, [])
    .option('-o, --out <dir>', 'where all texts and judgements go', 'dialectic-eval')
    .option('--words <n>', "words asked of --single (default: the debate's)")
    .option('--single-folder <dir>', 'a folder of Markdown as a rival; one a brief', collect, [])
    .option('--debate-folder <dir>', "a debate's folder for --debate; one a brief", collect, [])
    .option('-p, --process <name>', PROCESS_HELP)
    .option('-c, --concurrency <n>', 'calls at a time', '4')
    .option('--data <dir>', 'data directory (default: DIALECTIC_DATA or ~/.dialectic)')
    .option('--json', 'print the result as JSON')
    .option('-y, --yes', 'ask nothing: yes to every question')
    .action(evaluate);
  return withExample(command, EXAMPLE);
}

const RIVAL_HELP = `what --single writes: ${MADE_RIVALS.join(', ')}; repeat (default: one-prompt)`;

async function evaluate(given: string[], options: EvalOptions): Promise<void> {
  const { single, debate, judge: judges, out, data } = options;
  checkEvalOptions(given, options);
  const config = readConfiguration();
  const models = [...new Set([...(single ? [single] : []), ...debate, ...judges])];
  requireModels(models, config);
  await readRunBudget(budgetOf(options), models, config);
  if (options.rival.includes('best-of')) await requirePrices(models, config);
  const prepared: { name: string; text: string; run: RunOptions | null }[] = [];
  for (const path of given) {
    const run = debate.length > 0 ? await prepareRun(path, toRunOptions(options)) : null;
    const { name = '', brief = '' } = run ?? (await readBrief(path));
    prepared.push({ name: toFolderName(name), text: brief, run });
  }
  const evaluation = toEvaluation(
    prepared.map(({ name, text }) => ({ name, text })),
    options,
  );
  await checkEvaluation(evaluation);
  await confirmUncapped(models, config, options);
  if (options.preflight !== false) {
    const budget = budgetOf(options);
    tellChecks(await askModels(models, config, (ask) => withModels(data, ask), budget));
  }
  await claimEvaluation(evaluation);
  const budget = new SharedBudget(budgetOf(options));
  for (const { run, ...brief } of prepared) {
    if (run) await holdDebate(run, { ...options, out: debateFolderOf(out, brief) }, budget);
  }
  const limited = { ...evaluation, budget: budget.capsOf() };
  report(await withModels(data, (dialectic) => judgeTexts(dialectic, limited)), options);
}

/**
 * How long the texts are that judges read is known only when they are written; so without a budget a
 * person has to agree, unless no model of the evaluation costs anything.
 */
async function confirmUncapped(
  models: readonly string[],
  config: ModelsConfig,
  options: EvalOptions,
): Promise<void> {
  const { usd, tokens } = budgetOf(options);
  if (usd !== undefined || tokens !== undefined) return;
  const prices = await Promise.all(models.map((model) => findPrice(model, config)));
  const dear = models.filter((_, at) => !isFree(prices[at] ?? null));
  if (dear.length === 0) return;
  const question = `No --budget caps what ${dear.join(', ')} take for texts and judgements.`;
  const answer = await agree(`${question} Start it all the same?`, findConsent(options));
  if (answer === 'agreed') return;
  const said = answer === 'refused' ? 'Nothing was started.' : `${question} Nothing was started.`;
  throw new DialecticError('spending_unconfirmed', said, {
    action: 'Cap it with `--budget`, which is for debates, rivals and judges together, or `--yes`.',
  });
}

const isFree = (price: ModelPrice | null): boolean =>
  price !== null && Object.values(price.rates).every((rate) => rate === 0);

/** Ctrl-C lets calls under way end and begins no other; a second one ends the process. */
async function judgeTexts(dialectic: Dialectic, options: EvaluationOptions): Promise<Evaluation> {
  const stop = new AbortController();
  const onSignal = (): void => {
    tell('Stopping: calls under way end and are saved.');
    stop.abort();
  };
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    for await (const event of dialectic.evaluate({ ...options, signal: stop.signal })) {
      if (event.kind === 'evaluation-ended') return event.evaluation;
      tell(describeEvent(event));
    }
  } catch (thrown) {
    tell('What is written and judged is kept: the same command goes on where this one ended.');
    throw thrown;
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
  throw new DialecticError('internal_error', 'The evaluation ended without a result.');
}

function describeEvent(event: Exclude<EvaluationEvent, { kind: 'evaluation-ended' }>): string {
  if (event.kind === 'text-asked') return `${event.brief}: ${event.text}: ${event.model} is asked`;
  const { count, all, judged } = event;
  const { brief, rivals, judge, role, first } = judged;
  const against = rivals.join(' and ');
  const shown = first === 'rival' ? against : first;
  const preferred = (side: string): string => (side === 'rival' ? against : side);
  const outcome =
    'error' in judged ? judged.error.message : `prefers ${preferred(judged.preference)}`;
  const sitting = `${brief}, debate against ${against}: ${judge} as ${role}, ${shown} first`;
  return `Judgement ${count} of ${all}: ${sitting}: ${outcome}`;
}

/** Prints what was found; what is missing of it also ends the command with an error. */
function report(evaluation: Evaluation, { out, json }: EvalOptions): void {
  const { missing, judgements } = evaluation;
  printResult(json === true, evaluation, describeEvaluation(evaluation));
  const [first] = missing;
  if (!first) return;
  const all = missing.length + judgements.length;
  const path = join(out, 'evaluation.json');
  const message = `${missing.length} of ${all} judgements are missing; the others stand in ${path}, and the same command asks for those alone. ${first.error.message}`;
  throw new DialecticError(first.error.code, message, {
    details: first.error.details,
    action: first.error.action,
  });
}

import { Command } from 'commander';
import type { Dialectic } from '../api/dialectic.ts';
import type { RunOptions } from '../api/run-options.ts';
import { checkRun } from '../api/start-run.ts';
import { DialecticError, toDialecticError } from '../errors/errors.ts';
import type { Estimate } from '../estimate/types.ts';
import { OFFLINE_NOTICE } from '../models/offline/notice.ts';
import { loadTokenCounter } from '../models/tokens.ts';
import { tellCounts } from '../session/counts.ts';
import type { RunResult } from '../session/summary.ts';
import { countNoun } from '../text/count-noun.ts';
import { readConfirmAboveUsd } from '../wallet/spending-settings.ts';
import { findTerminal, type Terminal } from './ask-questions.ts';
import { addBudgetOptions, type BudgetOptions, budgetOf } from './budget.ts';
import { readConfiguration, readConfigurationFiles } from './configuration.ts';
import { type Consent, findConsent } from './confirm.ts';
import { confirmSpending } from './confirm-spending.ts';
import { driveReviewed } from './drive-reviewed.ts';
import { compareEstimate, summariseEstimate } from './estimate-text.ts';
import { adviseGates } from './gate-advice.ts';
import { withExample } from './help-text.ts';
import {
  addScopeOptions,
  collect,
  type NewRunOptions,
  PROCESS_HELP,
  prepareRun,
  SOURCE_HELP,
} from './new-run.ts';
import { describeFolder, describeNext } from './next-step.ts';
import { describeOutcome } from './outcome-text.ts';
import { printResult, tell } from './output.ts';
import { nameParticipants } from './participants.ts';
import { choosePlanFolder, showPath } from './plan-folder.ts';
import {
  addPreflightOption,
  askModels,
  callsOf,
  type PreflightOptions,
  tellChecks,
} from './preflight.ts';
import { describeCitations } from './sources-text.ts';
import { withModelsAfter } from './store.ts';
import { TRACE_HELP } from './trace-text.ts';

type RunCommandOptions = BudgetOptions &
  PreflightOptions &
  NewRunOptions & {
    out?: string;
    approve: string;
    concurrency: string;
    trace?: string;
    allowDegraded?: boolean;
    data?: string;
    json?: boolean;
    yes?: boolean;
  };

/** `dialectic run`: a brief goes in, a folder of documents comes out. */
export function runCommand(): Command {
  const command = addPreflightOption(addScopeOptions(addBudgetOptions(new Command('run'))))
    .description('let models debate a brief and write the folder of documents')
    .argument('[brief]', "a text file, - for standard input, or the words (default: the project's)")
    .option('-m, --model <id>', 'a participant, provider/model; repeat for more', collect, [])
    .option('-o, --out <dir>', 'the folder to write (default: NAME-plan in this folder)')
    .option('-p, --process <name>', PROCESS_HELP)
    .option('--until <stage>', 'stop after this stage')
    .option('--approve <stages>', 'review these stages, as in clarify,thesis; stage: all', 'none')
    .option('-r, --resource <kind=file>', 'material beside the brief; repeat', collect, [])
    .option('-s, --source <place>', SOURCE_HELP, collect, [])
    .option('--writer <model>', 'the participant that alone goes on where the process allows it')
    .option('--domain <name>', "one of the process's domains")
    .option('--project <name>', 'the project that holds the session; a new name makes a new one')
    .option('--name <text>', "a new project's name (default: the file's)")
    .option('--date <day>', 'the day that prompts call today, as 2026-11-19 (default: today)')
    .option('--overlay <file>', 'role, standards and style of this session, as YAML')
    .option('--project-overlay <file>', 'the same for a new project')
    .option(
      '--allow-degraded',
      'go on when a participant fails in a stage, and say what is missing',
    )
    .option('-c, --concurrency <n>', 'calls at a time', '4')
    .option('--trace <file>', TRACE_HELP)
    .option('--data <dir>', 'data directory (default: DIALECTIC_DATA or ~/.dialectic)')
    .option('--json', 'print the result as JSON')
    .option('-y, --yes', 'ask nothing: yes to every question')
    .action(run);
  return withExample(
    command,
    'dialectic run brief.md -m openai/gpt-5 -m anthropic/claude-sonnet-4-5',
  );
}

async function run(
  briefPath: string | undefined,
  options: RunCommandOptions,
  command: Command,
): Promise<void> {
  const given = await prepareRun(briefPath, options);
  const prepared = await nameParticipants(given, command, findConsent(options));
  report(await carryOut(prepared, options, findTerminal(options)), options);
}

type CarryOutOptions = BudgetOptions &
  PreflightOptions &
  Pick<RunCommandOptions, 'out' | 'concurrency' | 'trace' | 'allowDegraded' | 'data' | 'yes'> &
  Pick<RunOptions, 'approve'>;

/**
 * Starts a run and works on it until it rests; what it would take is told before any call. With a
 * terminal, stages that wait for a person are reviewed there, and the run goes on.
 */
export async function carryOut(
  prepared: RunOptions,
  options: CarryOutOptions,
  terminal: Terminal | null = null,
): Promise<RunResult & { readonly estimate: Estimate }> {
  const { approve, allowDegraded, data, trace } = options;
  const concurrency = readConcurrency(options.concurrency);
  const { models, project, name = 'brief' } = prepared;
  const checked = { ...prepared, approve, allowDegraded, budget: budgetOf(options) };
  const configuration = readConfiguration();
  const consent: Consent = options.yes ? 'given' : terminal;
  const place = { out: options.out, name, owner: null, consent };
  // A person who is asked takes their time, in which no other process could use an open store.
  const free = project === undefined ? await choosePlanFolder(place) : undefined;
  // What is refused here leaves no new store behind, unless a paid question needed one.
  let preflight: readonly string[] = [];
  const check = async (open: () => Promise<Dialectic>): Promise<void> => {
    await checkRun(checked, configuration);
    const asksModels = options.preflight !== false;
    const [checks] = await Promise.all([
      asksModels
        ? askModels(models, configuration, async (ask) => ask(await open()), checked.budget)
        : [],
      loadTokenCounter(), // the estimate needs it, and models take longer to answer
    ]);
    tellChecks(checks);
    preflight = callsOf(checks);
    if (models.some((model) => model.startsWith('offline/'))) tell(OFFLINE_NOTICE);
  };
  return withModelsAfter(data, check, async (dialectic) => {
    const owner = project === undefined ? null : await findOwner(dialectic, project);
    const out = free ?? (await choosePlanFolder({ ...place, owner }));
    const run = { ...checked, out };
    const estimate = await dialectic.estimate(run);
    tell(summariseEstimate(estimate));
    await confirmSpending(dialectic, spendingOf(estimate), {
      budget: run.budget,
      confirmAboveUsd: readConfirmAboveUsd(readConfigurationFiles().configuration),
      consent,
      session: null,
    });
    const { session } = await dialectic.start({ ...run, preflight });
    const { process } = await dialectic.session(session);
    tell(`Session ${session}: ${process.name} with ${models.join(', ')}`);
    tell(`The documents go to ${showPath(out)}`);
    const result = await driveReviewed(dialectic, session, { concurrency, terminal, trace });
    return { ...result, estimate };
  });
}

const spendingOf = ({ costUsd, inputTokens, outputTokens }: Estimate) => ({
  costUsd,
  tokens: inputTokens.middle + outputTokens.middle,
});

/** The id of a project that exists; null for a name that the run will give to a new one. */
async function findOwner(dialectic: Dialectic, project: string): Promise<string | null> {
  try {
    return (await dialectic.project(project)).id;
  } catch (thrown) {
    if (toDialecticError(thrown).code === 'not_found') return null;
    throw thrown;
  }
}

export function readConcurrency(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0 && value <= 500) return value;
  throw new DialecticError('usage_invalid', `--concurrency takes a number from 1 to 500.`);
}

/** Whether it rests because its questions are for the requester, who wanted to be asked. */
const isAsking = ({ awaiting }: RunResult): boolean => typeof awaiting?.openQuestions === 'number';

/** Prints the result; a run that rests before its end also leaves with a code that says so. */
export function report(
  result: RunResult & { estimate?: Estimate },
  options: { json?: boolean; out?: string },
): void {
  printResult(options.json === true, result, describe(result));
  requireAtRest(result);
  if (options.out === undefined || result.folderProblem === null) return;
  const details = { session: result.session, folder: result.folder };
  throw new DialecticError('folder_unusable', result.folderProblem, { details });
}

/** Whether it came as far as it was asked to; else an error tells why it did not, and what helps. */
const isAtRest = ({ status, awaiting }: RunResult): boolean =>
  status === 'completed' || awaiting !== null;

/** Throws for a run that neither ended nor waits where it was asked to: with the run's exit code. */
export function requireAtRest(result: RunResult): void {
  if (!isAtRest(result)) requireCompleted(result);
}

/** Throws for a run that rests before its end, with the command that goes on. */
export function requireCompleted(result: RunResult): void {
  if (result.status === 'completed' || result.awaiting?.reason === 'until') return;
  if (result.status === 'cancelled') throw cancelled(result.session);
  const next = result.status === 'awaiting_review' ? 'approve' : 'resume';
  const { hints, parameters } = adviseGates(result);
  const command = `dialectic ${next} ${result.session}${parameters}`;
  const details = { session: result.session, status: result.status, failures: result.failures };
  throw new DialecticError(
    'run_incomplete',
    [
      `The run is ${result.standing}.`,
      ...result.failures.slice(0, 3),
      ...(hints === '' ? [] : [hints]),
      `Go on with: ${command}`,
    ].join(' '),
    { action: `Read the message; \`${command}\` goes on with it.`, details },
  );
}

function cancelled(session: string): DialecticError {
  const message = `The run ${session} was cancelled; what was written is kept. Look at it with: dialectic show ${session}`;
  const action = 'Nothing goes on with a cancelled run: start a new one.';
  return new DialecticError('run_incomplete', message, { action, details: { session } });
}

/** What a run went on without, one line for each lane of a stage that owes something. */
export const describeDegraded = ({ missingText }: RunResult): string[] =>
  missingText.length === 0
    ? []
    : ['Degraded: the run went on without', ...missingText.map((line) => `  ${line}`)];

function describe(result: RunResult & { estimate?: Estimate }): string[] {
  const { usage, awaiting, estimate } = result;
  const stopped = awaiting?.reason === 'until';
  const standing = isAsking(result) ? 'waiting for answers' : result.standing;
  const state = stopped ? `stopped after ${awaiting.until}, as asked` : standing;
  const cost = usage.costUsd === null ? 'price unknown' : `$${usage.costUsd.toFixed(4)}`;
  const { calls, documentCount: documents, iteration } = result;
  return [
    `${state}: ${tellCounts({ calls, documents }, iteration)}, ` +
      `${countNoun(usage.inputTokens + usage.outputTokens, 'token')}, ${cost}`,
    ...describeDegraded(result),
    ...describeOutcome(result),
    ...describeCitations(result),
    ...(estimate && result.status === 'completed' ? [compareEstimate(estimate)] : []),
    ...(isAtRest(result) ? describeNext(result) : describeFolder(result)),
  ];
}

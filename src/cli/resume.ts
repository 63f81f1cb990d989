import { Command } from 'commander';
import type { Dialectic } from '../api/dialectic.ts';
import type { ResumeOptions } from '../api/steer-run.ts';
import type { ModelCheck } from '../models/preflight.ts';
import { readConfirmAboveUsd } from '../wallet/spending-settings.ts';
import { findTerminal } from './ask-questions.ts';
import { addBudgetOptions, type BudgetOptions, budgetOf } from './budget.ts';
import { readConfigurationFiles } from './configuration.ts';
import { findConsent } from './confirm.ts';
import { confirmPass } from './confirm-spending.ts';
import { driveReviewed } from './drive-reviewed.ts';
import { namingSession } from './name-session.ts';
import { addPreflightOption, type PreflightOptions, tellChecks } from './preflight.ts';
import { readConcurrency, report } from './run.ts';
import { findSession } from './sessions.ts';
import { withModels } from './store.ts';
import { TRACE_HELP } from './trace-text.ts';

type GoOnOptions = BudgetOptions &
  PreflightOptions & {
    out?: string;
    concurrency: string;
    trace?: string;
    until?: string;
    now?: boolean;
    data?: string;
    json?: boolean;
    yes?: boolean;
  };

/** `dialectic resume`: goes on with a session that was stopped, failed or paused. */
export function resumeCommand(): Command {
  return goOnCommand('resume', 'go on with a session; nothing that succeeded is repeated')
    .option('--now', 'wait for no date: what a fault or a wrong clock put off runs at once')
    .option('--until <stage>', 'stop after this stage (default: go on to the end)');
}

/** `dialectic approve`: lets the next stage begin after a person has looked at the last one. */
export const approveCommand = (): Command =>
  goOnCommand('approve', 'let the next stage of a session begin');

/** `dialectic iterate`: another pass over a finished session, which reads the first. */
export const iterateCommand = (): Command =>
  goOnCommand('iterate', 'make another pass over a finished session');

function goOnCommand(verb: 'resume' | 'approve' | 'iterate', description: string): Command {
  return addPreflightOption(addBudgetOptions(new Command(verb)))
    .description(description)
    .argument('[session]', 'its id or the end of it (default: the newest)')
    .option('-o, --out <dir>', "the folder to write from now on (default: the session's)")
    .option('-c, --concurrency <n>', 'calls at a time', '4')
    .option('--trace <file>', TRACE_HELP)
    .option('--data <dir>', 'data directory (default: DIALECTIC_DATA or ~/.dialectic)')
    .option('--json', 'print the result as JSON')
    .option('-y, --yes', 'ask nothing: yes to every question')
    .action(async (session: string | undefined, options: GoOnOptions) => {
      const { out, until, now, data, trace } = options;
      const concurrency = readConcurrency(options.concurrency);
      await withModels(data, async (dialectic: Dialectic) => {
        const { id } = await findSession(dialectic, session);
        if (options.preflight !== false) tellChecks(await checkLanes(dialectic, id));
        const budget = budgetOf(options);
        if (verb === 'iterate') {
          const confirmAboveUsd = readConfirmAboveUsd(readConfigurationFiles().configuration);
          const consent = findConsent(options);
          await confirmPass(dialectic, id, { budget, confirmAboveUsd, consent });
        }
        const goOn: ResumeOptions = { out, until, now, budget };
        await namingSession(id, '', () => dialectic[verb](id, goOn));
        const drive = { concurrency, terminal: findTerminal(options), trace };
        report(await driveReviewed(dialectic, id, drive), options);
      });
    });
}

/** A session that goes on asks the models of all its participants, which may be days old. */
async function checkLanes(dialectic: Dialectic, session: string): Promise<readonly ModelCheck[]> {
  const { lanes } = await dialectic.session(session);
  return dialectic.preflight(
    lanes.map(({ model }) => model),
    { session },
  );
}

import { Command } from 'commander';
import { requireFolder } from '../documents/owned-folder.ts';
import { endWaits } from '../jobs/waits.ts';
import { approveStage, iterateSession } from '../session/advance.ts';
import { resumeRun } from '../session/resume.ts';
import { approveSpending } from '../wallet/ledger.ts';
import { readRunBudget, setSessionBudgets } from '../wallet/session-budgets.ts';
import { addBudgetOptions, type BudgetOptions, budgetOf } from './budget.ts';
import { readConfiguration } from './configuration.ts';
import { driveSession } from './drive.ts';
import { namingSession } from './name-session.ts';
import { readConcurrency, report } from './run.ts';
import { findSession } from './sessions.ts';
import { type OpenStore, withStore } from './store.ts';

type GoOnOptions = BudgetOptions & {
  out?: string;
  concurrency: string;
  until?: string;
  now?: boolean;
  data?: string;
  json?: boolean;
};

/** `dialectic resume`: goes on with a session that was stopped, failed or paused. */
export function resumeCommand(): Command {
  return goOnCommand(
    'resume',
    'go on with a session; nothing that succeeded is repeated',
    async ({ database, tenantId }, id, { until, now }) => {
      await database.asTenant(tenantId, (tx) => approveSpending(tx, id));
      await resumeRun(database, tenantId, id, { until: until ?? null });
      if (now) await database.asTenant(tenantId, (tx) => endWaits(tx, id));
    },
  )
    .option('--now', 'wait for no date: what a fault or a wrong clock put off runs at once')
    .option('--until <stage>', 'stop after this stage (default: go on to the end)');
}

/** `dialectic approve`: lets the next stage begin after a person has looked at the last one. */
export function approveCommand(): Command {
  return goOnCommand('approve', 'let the next stage of a session begin', (store, id) =>
    approveStage(store.database, store.tenantId, id),
  );
}

/** `dialectic iterate`: another pass over a finished session, which reads the first. */
export function iterateCommand(): Command {
  return goOnCommand('iterate', 'make another pass over a finished session', (store, id) =>
    iterateSession(store.database, store.tenantId, id),
  );
}

function goOnCommand(
  verb: string,
  description: string,
  prepare: (store: OpenStore, sessionId: string, options: GoOnOptions) => Promise<void>,
): Command {
  return addBudgetOptions(new Command(verb))
    .description(description)
    .argument('[session]', 'its id or the end of it (default: the newest)')
    .option('-o, --out <dir>', 'the folder to write')
    .option('-c, --concurrency <n>', 'calls at a time', '4')
    .option('--data <dir>', 'data directory (default: DIALECTIC_DATA or ~/.dialectic)')
    .option('--json', 'print the result as JSON')
    .action(async (session: string | undefined, options: GoOnOptions) => {
      const concurrency = readConcurrency(options.concurrency);
      const config = readConfiguration();
      await withStore(options.data, async (store) => {
        const { id, models, projectId } = await findSession(store, session);
        await requireFolder(options.out, projectId);
        const budgets = await readRunBudget(budgetOf(options), models, config);
        await store.database.asTenant(store.tenantId, (tx) => setSessionBudgets(tx, id, budgets));
        await namingSession(id, '', () => prepare(store, id, options));
        const drive = { sessionId: id, out: options.out, concurrency, config };
        report(await driveSession(store, drive), options);
      });
    });
}

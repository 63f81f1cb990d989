import { Command } from 'commander';
import type { Transaction } from '../db/database.ts';
import { DialecticError } from '../errors/errors.ts';
import { newId } from '../platform/ids.ts';
import { findProject } from '../session/project.ts';
import { formatAmount, parseAmount } from '../wallet/amounts.ts';
import { readBalances, readBudgets, readHistory } from '../wallet/balances.ts';
import { settleLeftHolds } from '../wallet/holds.ts';
import { grantFunds, removeLimit, setBudget, setSpendingShare } from '../wallet/ledger.ts';
import { reportCosts } from '../wallet/report.ts';
import { toCsv } from './csv.ts';
import { printResult } from './output.ts';
import { findSession } from './sessions.ts';
import { type OpenStore, withStore } from './store.ts';
import {
  BALANCE_COLUMNS,
  CALL_COLUMNS,
  describeAccount,
  describeBudget,
  describeReport,
  HISTORY_COLUMNS,
} from './wallet-text.ts';

type Options = {
  data?: string;
  json?: boolean;
  csv?: boolean;
  tokens?: boolean;
  project?: string;
  key?: string;
  note?: string;
  limit?: string;
};

/** `dialectic wallet`: what there is, what moved, what a session cost and why. */
export function walletCommand(): Command {
  const wallet = new Command('wallet').description('balances, budgets and what a session cost');
  const verb = (name: string, description: string): Command =>
    wallet
      .command(name)
      .description(description)
      .option('--data <dir>', 'data directory (default: DIALECTIC_DATA or ~/.dialectic)')
      .option('--json', 'print the result as JSON');
  verb('balance', 'show every account and budget')
    .option('--csv', 'print a table for spreadsheets')
    .action((options: Options) => withStore(options.data, (store) => balance(store, options)));
  verb('history', 'show what moved on the wallet, the newest first')
    .option('--csv', 'print a table for spreadsheets')
    .option('-n, --limit <n>', 'how many lines', '50')
    .action((options: Options) => withStore(options.data, (store) => history(store, options)));
  verb('report', 'explain what a session cost, call by call')
    .argument('[session]', 'its id or the end of it (default: the newest)')
    .option('--csv', 'print a table for spreadsheets')
    .action((session: string | undefined, options: Options) =>
      withStore(options.data, (store) => report(store, session, options)),
    );
  verb('grant', 'add to the wallet, which has a limit from then on')
    .argument('<amount>', 'dollars, or tokens with --tokens; `unlimited` takes the limit away')
    .option('--tokens', 'tokens instead of dollars')
    .option('--project <id>', 'a wallet for this project alone')
    .option('--key <text>', 'the same key grants only once')
    .option('--note <text>', 'what it is for')
    .action((amount: string, options: Options) =>
      withStore(options.data, (store) => grant(store, amount, options)),
    );
  verb('budget', 'cap all spending, or that of a project')
    .argument('<amount>', 'dollars in all, or tokens with --tokens; `none` takes the cap away')
    .option('--tokens', 'tokens instead of dollars')
    .option('--project <id>', 'the project to cap')
    .action((amount: string, options: Options) =>
      withStore(options.data, (store) => budget(store, amount, options)),
    );
  verb('share', 'set what part of the wallet one unplanned call may take without asking')
    .argument('<percent>', 'from 0 to 100; 20 unless set')
    .action((percent: string, options: Options) =>
      withStore(options.data, (store) => share(store, percent, options)),
    );
  return wallet;
}

const inTenant = <T>({ database, tenantId }: OpenStore, work: (tx: Transaction) => Promise<T>) =>
  database.asTenant(tenantId, work);

async function balance(store: OpenStore, options: Options): Promise<void> {
  const { accounts, budgets } = await inTenant(store, async (tx) => {
    await settleLeftHolds(tx);
    return { accounts: await readBalances(tx), budgets: await readBudgets(tx) };
  });
  const lines = [...accounts.map(describeAccount), ...budgets.map(describeBudget)];
  if (lines.length === 0) lines.push('Nothing was spent yet; the wallet has no limit.');
  const table = toCsv(BALANCE_COLUMNS, accounts);
  printResult(options.json === true, { accounts, budgets }, options.csv ? table : lines);
}

async function history(store: OpenStore, options: Options): Promise<void> {
  const most = Number(options.limit);
  if (!Number.isInteger(most) || most < 1) {
    throw new DialecticError('usage_invalid', '--limit takes a number from 1.');
  }
  const entries = await inTenant(store, (tx) => readHistory(tx, most));
  const lines = entries.map(({ at, kind, currency, amount, balance: after, model, note }) => {
    const what = [kind, model, note].filter(Boolean).join(' ');
    const [moved, left] = [amount, after].map((sum) => formatAmount(sum, currency));
    return `${at.toISOString()}  ${moved!.padStart(16)}  ${what} → ${left}`;
  });
  const table = toCsv(
    HISTORY_COLUMNS,
    entries.map(({ price: _price, ...entry }) => entry),
  );
  const shown = options.csv ? table : lines.length > 0 ? lines : ['Nothing moved yet.'];
  printResult(options.json === true, entries, shown);
}

async function report(store: OpenStore, session: string | undefined, options: Options) {
  const { id } = await findSession(store, session);
  const costs = await inTenant(store, async (tx) => {
    await settleLeftHolds(tx);
    return reportCosts(tx, id);
  });
  const rows = costs.calls.map(({ price: _price, usage, ...call }) => ({ ...call, ...usage }));
  const lines = options.csv ? toCsv(CALL_COLUMNS, rows) : describeReport(costs);
  printResult(options.json === true, costs, lines);
}

async function grant(store: OpenStore, text: string, options: Options): Promise<void> {
  const currency = options.tokens ? 'token' : 'USD';
  if (text === 'unlimited') {
    await inTenant(store, async (tx) => removeLimit(tx, currency, await projectOf(tx, options)));
    const line = `The wallet${options.project ? ' of the project' : ''} has no limit.`;
    return printResult(options.json === true, { unlimited: true }, [line]);
  }
  const amount = parseAmount(text, currency);
  if (amount === 0) throw new DialecticError('usage_invalid', 'Grant more than nothing.');
  const posting = await inTenant(store, async (tx) =>
    grantFunds(tx, {
      key: `grant/${options.key ?? newId()}`,
      currency,
      amount,
      projectId: await projectOf(tx, options),
      ...(options.note && { note: options.note }),
    }),
  );
  const line = `${formatAmount(amount, currency)} granted (posting ${posting}).`;
  printResult(options.json === true, { posting, currency, amount }, [line]);
}

async function budget(store: OpenStore, text: string, options: Options): Promise<void> {
  const currency = options.tokens ? 'token' : 'USD';
  const amount = text === 'none' ? null : parseAmount(text, currency);
  const scope = options.project ? 'project' : 'tenant';
  await inTenant(store, async (tx) => {
    const ownerId = options.project ? await findProject(tx, options.project) : tx.tenantId;
    await setBudget(tx, { scope, ownerId, currency, amount });
  });
  const line = amount === null ? 'No budget.' : `At most ${formatAmount(amount, currency)} in all.`;
  printResult(options.json === true, { scope, currency, amount }, [line]);
}

async function share(store: OpenStore, text: string, options: Options): Promise<void> {
  const percent = Number(text.replace(/%$/, ''));
  if (!(percent >= 0 && percent <= 100)) {
    throw new DialecticError('usage_invalid', 'A share is a number from 0 to 100.');
  }
  await inTenant(store, (tx) => setSpendingShare(tx, percent / 100));
  printResult(options.json === true, { percent }, [`One call may take ${percent} % unasked.`]);
}

const projectOf = async (tx: Transaction, { project }: Options) =>
  project ? await findProject(tx, project) : null;

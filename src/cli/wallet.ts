import { Command } from 'commander';
import type { Dialectic } from '../api/dialectic.ts';
import { DialecticError } from '../errors/errors.ts';
import { formatAmount } from '../wallet/amounts.ts';
import { toCsv } from './csv.ts';
import { withExample } from './help-text.ts';
import { printExactly, printRows } from './output.ts';
import { findSession } from './sessions.ts';
import { withDialectic } from './store.ts';
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

const GRANT = "dialectic wallet grant 20 --note 'for November'";
const REFUND = 'dialectic wallet refund 17 0.05';
const BUDGET = 'dialectic wallet budget 50';
const SHARE_HELP = 'set what part of the wallet one unplanned call may take without asking';

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
    .action((options: Options) =>
      withDialectic(options.data, (dialectic) => balance(dialectic, options)),
    );
  verb('history', 'show what moved on the wallet, the newest first')
    .option('--csv', 'print a table for spreadsheets')
    .option('-n, --limit <n>', 'how many lines', '50')
    .action((options: Options) =>
      withDialectic(options.data, (dialectic) => history(dialectic, options)),
    );
  verb('report', 'explain what a session cost, call by call')
    .argument('[session]', 'its id or the end of it (default: the newest)')
    .option('--csv', 'print a table for spreadsheets')
    .action((session: string | undefined, options: Options) =>
      withDialectic(options.data, (dialectic) => report(dialectic, session, options)),
    );
  withExample(verb('grant', 'add to the wallet, which has a limit from then on'), GRANT)
    .argument('<amount>', 'dollars, or tokens with --tokens; `unlimited` takes the limit away')
    .option('--tokens', 'tokens instead of dollars')
    .option('--project <id>', 'a wallet for this project alone')
    .option('--key <text>', 'the same key grants only once')
    .option('--note <text>', 'what it is for')
    .action((amount: string, options: Options) =>
      withDialectic(options.data, (dialectic) => grant(dialectic, amount, options)),
    );
  withExample(verb('refund', 'book what a provider gave back for a call'), REFUND)
    .argument('<posting>', 'the posting of the call, as `wallet report --csv` lists it')
    .argument('<amount>', 'dollars, or tokens with --tokens; at most what was paid')
    .option('--tokens', 'tokens instead of dollars')
    .option('--key <text>', 'the same key refunds only once')
    .option('--note <text>', 'why')
    .action((posting: string, amount: string, options: Options) =>
      withDialectic(options.data, (dialectic) => refund(dialectic, posting, amount, options)),
    );
  withExample(verb('budget', 'cap all spending, or that of a project'), BUDGET)
    .argument('<amount>', 'dollars in all, or tokens with --tokens; `none` takes the cap away')
    .option('--tokens', 'tokens instead of dollars')
    .option('--project <id>', 'the project to cap')
    .action((amount: string, options: Options) =>
      withDialectic(options.data, (dialectic) => budget(dialectic, amount, options)),
    );
  withExample(verb('share', SHARE_HELP), 'dialectic wallet share 10')
    .argument('<percent>', 'from 0 to 100; 20 unless set')
    .action((percent: string, options: Options) =>
      withDialectic(options.data, (dialectic) => share(dialectic, percent, options)),
    );
  return wallet;
}

async function balance(dialectic: Dialectic, options: Options): Promise<void> {
  const { accounts, budgets } = await dialectic.wallet.balance();
  const lines = [...accounts.map(describeAccount), ...budgets.map(describeBudget)];
  if (lines.length === 0) lines.push('Nothing was spent yet; the wallet has no limit.');
  const table = toCsv(BALANCE_COLUMNS, accounts);
  const print = options.csv ? printExactly : printRows;
  print(options.json === true, { accounts, budgets }, options.csv ? table : lines);
}

async function history(dialectic: Dialectic, options: Options): Promise<void> {
  const most = Number(options.limit);
  if (!Number.isInteger(most) || most < 1) {
    throw new DialecticError('usage_invalid', '--limit takes a number from 1.');
  }
  const entries = await dialectic.wallet.history(most);
  const lines = entries.map(({ at, kind, purpose, currency, amount, balance: after, ...of }) => {
    const isOutside = purpose !== null && purpose !== 'generation';
    const what = [kind, isOutside && purpose, of.model, of.note].filter(Boolean).join(' ');
    const [moved, left] = [amount, after].map((sum) => formatAmount(sum, currency));
    return `${at}  ${moved!.padStart(16)}  ${what} → ${left}`;
  });
  const table = toCsv(
    HISTORY_COLUMNS,
    entries.map(({ price: _price, ...entry }) => entry),
  );
  const shown = options.csv ? table : lines.length > 0 ? lines : ['Nothing moved yet.'];
  (options.csv ? printExactly : printRows)(options.json === true, entries, shown);
}

async function report(dialectic: Dialectic, session: string | undefined, options: Options) {
  const { id } = await findSession(dialectic, session);
  const costs = await dialectic.costs(id);
  const rows = costs.calls.map(({ price: _price, usage, ...call }) => ({ ...call, ...usage }));
  const lines = options.csv ? toCsv(CALL_COLUMNS, rows) : describeReport(costs);
  (options.csv ? printExactly : printRows)(options.json === true, costs, lines);
}

async function grant(dialectic: Dialectic, text: string, options: Options): Promise<void> {
  const { project, key, note } = options;
  const currency = options.tokens ? 'token' : 'USD';
  if (text === 'unlimited') {
    await dialectic.wallet.removeLimit({ currency, project });
    const line = `The wallet${project ? ' of the project' : ''} has no limit.`;
    return printRows(options.json === true, { unlimited: true }, [line]);
  }
  const granted = await dialectic.wallet.grant(text, { currency, project, key, note });
  const line = `${formatAmount(granted.amount, currency)} granted (posting ${granted.posting}).`;
  printRows(options.json === true, granted, [line]);
}

async function refund(dialectic: Dialectic, of: string, text: string, options: Options) {
  if (!/^[1-9]\d{0,14}$/.test(of)) {
    throw new DialecticError('usage_invalid', `A posting is a number, not "${of}".`);
  }
  const { tokens, key, note } = options;
  const currency = tokens ? 'token' : 'USD';
  const refunded = await dialectic.wallet.refund(Number(of), text, { currency, key, note });
  const line = `${formatAmount(refunded.amount, currency)} refunded for posting ${of} (posting ${refunded.posting}).`;
  printRows(options.json === true, refunded, [line]);
}

async function budget(dialectic: Dialectic, text: string, options: Options): Promise<void> {
  const currency = options.tokens ? 'token' : 'USD';
  const most = text === 'none' ? null : text;
  const set = await dialectic.wallet.setBudget(most, { currency, project: options.project });
  const line =
    set.amount === null ? 'No budget.' : `At most ${formatAmount(set.amount, currency)} in all.`;
  printRows(options.json === true, set, [line]);
}

async function share(dialectic: Dialectic, text: string, options: Options): Promise<void> {
  const percent = Number(text.replace(/%$/, ''));
  await dialectic.wallet.setShare(percent);
  printRows(options.json === true, { percent }, [
    `A single unplanned call may spend up to ${percent} % of the wallet without asking.`,
  ]);
}

import { Command } from 'commander';
import {
  dismissAllNotices,
  dismissNotice,
  findNotice,
  type Notice,
  openNotices,
} from '../db/notices.ts';
import { DialecticError } from '../errors/errors.ts';
import { printResult } from './output.ts';
import { type OpenStore, withStore } from './store.ts';

type Options = { data?: string; json?: boolean; all?: boolean };

/** `dialectic notices`: what concerns the user and was not dismissed yet. */
export function noticesCommand(): Command {
  const notices = new Command('notices')
    .description('list what went wrong or waits for you, until you dismiss it')
    .option('--data <dir>', 'data directory (default: DIALECTIC_DATA or ~/.dialectic)')
    .option('--json', 'print the result as JSON')
    .action((options: Options) => withStore(options.data, (store) => list(store, options)));
  notices
    .command('dismiss')
    .description('put notices away')
    .argument('[id...]', 'their ids, or the ends of them')
    .option('--all', 'every notice')
    .action((ids: string[], _own: unknown, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      return withStore(options.data, (store) => dismiss(store, ids, options));
    });
  return notices;
}

/** The notices that were not dismissed, oldest first. */
export const readNotices = ({ database, tenantId }: OpenStore): Promise<Notice[]> =>
  database.asTenant(tenantId, openNotices);

async function list(store: OpenStore, options: Options): Promise<void> {
  const notices = await readNotices(store);
  const lines = notices.map(({ id, severity, message, topic, createdAt }) => {
    const when = createdAt.toISOString().slice(0, 16).replace('T', ' ');
    return `${id.slice(-12)}  ${when}  ${severity.padEnd(7)}  ${topic}: ${message}`;
  });
  const help = 'Put one away with: dialectic notices dismiss ID, or all of them with --all';
  printResult(
    options.json === true,
    notices,
    lines.length > 0 ? [...lines, help] : ['No notices.'],
  );
}

async function dismiss(store: OpenStore, ids: readonly string[], options: Options): Promise<void> {
  if (ids.length === 0 && !options.all) {
    const message = 'Name the notices to dismiss, or give --all; `dialectic notices` lists them.';
    throw new DialecticError('usage_invalid', message);
  }
  const { database, tenantId } = store;
  const dismissed = await database.asTenant(tenantId, async (tx) => {
    if (options.all) return dismissAllNotices(tx);
    const open = await openNotices(tx);
    const found = ids.map((wanted) => findNotice(open, wanted).id);
    for (const id of new Set(found)) await dismissNotice(tx, id);
    return [...new Set(found)];
  });
  printResult(options.json === true, { dismissed }, [`Dismissed ${dismissed.length}.`]);
}

/** A line that says how many notices wait; none where there are none. */
export function mentionNotices({ length }: readonly Notice[]): string[] {
  return length === 0
    ? []
    : [`${length} unread notice${length === 1 ? '' : 's'}: dialectic notices`];
}

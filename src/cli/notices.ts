import { Command } from 'commander';
import type { Notice } from '../api/data.ts';
import type { Dialectic } from '../api/dialectic.ts';
import { DialecticError } from '../errors/errors.ts';
import { countNoun } from '../text/count-noun.ts';
import { printRows } from './output.ts';
import { withDialectic } from './store.ts';

type Options = { data?: string; json?: boolean; all?: boolean };

/** `dialectic notices`: what concerns the user and was not dismissed yet. */
export function noticesCommand(): Command {
  const notices = new Command('notices')
    .description('list what went wrong or waits for you, until you dismiss it')
    .option('--data <dir>', 'data directory (default: DIALECTIC_DATA or ~/.dialectic)')
    .option('--json', 'print the result as JSON')
    .action((options: Options) =>
      withDialectic(options.data, (dialectic) => list(dialectic, options)),
    );
  notices
    .command('dismiss')
    .description('put notices away')
    .argument('[id...]', 'their ids, or the ends of them')
    .option('--all', 'every notice')
    .action((ids: string[], _own: unknown, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      return withDialectic(options.data, (dialectic) => dismiss(dialectic, ids, options));
    });
  return notices;
}

async function list(dialectic: Dialectic, options: Options): Promise<void> {
  const notices = await dialectic.notices();
  const lines = notices.map(({ id, severity, message, topic, createdAt }) => {
    const when = createdAt.slice(0, 16).replace('T', ' ');
    return `${id.slice(-12)}  ${when}  ${severity.padEnd(7)}  ${topic}: ${message}`;
  });
  const help = 'Put one away with: dialectic notices dismiss ID, or all of them with --all';
  printRows(options.json === true, notices, lines.length > 0 ? [...lines, help] : ['No notices.']);
}

async function dismiss(
  dialectic: Dialectic,
  ids: readonly string[],
  options: Options,
): Promise<void> {
  if (ids.length === 0 && !options.all) {
    const message = 'Name the notices to dismiss, or give --all; `dialectic notices` lists them.';
    throw new DialecticError('usage_invalid', message);
  }
  const dismissed = await dialectic.dismissNotices(options.all ? 'all' : ids);
  printRows(options.json === true, { dismissed }, [`Dismissed ${dismissed.length}.`]);
}

/** A line that says how many notices wait; none where there are none. */
export function mentionNotices({ length }: readonly Notice[]): string[] {
  return length === 0 ? [] : [`${countNoun(length, 'unread notice')}: dialectic notices`];
}

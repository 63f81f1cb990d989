import { resolve } from 'node:path';
import { Command } from 'commander';
import type { SessionInfo } from '../api/data.ts';
import { DialecticError } from '../errors/errors.ts';
import { describeVote } from '../session/choice-text.ts';
import { mentionNotices } from './notices.ts';
import { printResult } from './output.ts';
import { showPath } from './plan-folder.ts';
import { describeDegraded } from './run.ts';
import { findSession } from './sessions.ts';
import { withDialectic } from './store.ts';

type Options = { data?: string; json?: boolean; out?: string; all?: boolean };

/** `dialectic list`: the sessions of the store. */
export function listCommand(): Command {
  return new Command('list')
    .description('list the sessions by project, the newest first')
    .option('--data <dir>', 'data directory (default: DIALECTIC_DATA or ~/.dialectic)')
    .option('--all', 'also those of archived projects')
    .option('--json', 'print the result as JSON')
    .action((options: Options) =>
      withDialectic(options.data, async (dialectic) => {
        const every = await dialectic.list({ all: true });
        const sessions = every.filter(({ archived }) => options.all || !archived);
        const hidden = every.length - sessions.length;
        const projects = Map.groupBy(sessions, (session) => session.projectId);
        const lines = [...projects.values()].flatMap((own) => [
          describeProject(own[0]!),
          ...own.map(describeSession),
        ]);
        const empty = 'No sessions yet. Start one with: dialectic run BRIEF';
        printResult(options.json === true, sessions, [
          ...(every.length > 0 ? lines : [empty]),
          ...(hidden > 0 ? [`Sessions of archived projects: ${hidden}; dialectic list --all`] : []),
          ...mentionNotices(await dialectic.notices()),
        ]);
      }),
    );
}

const describeProject = ({ project, projectId, archived }: SessionInfo): string =>
  `${project} (project ${projectId}${archived ? ', archived' : ''})`;

function describeSession(session: SessionInfo): string {
  const { id, process, models, calls } = session;
  const state = session.standing.padEnd(16);
  const dated = session.ahead ? ` · dated ${session.createdAt}, after now` : '';
  return `  ${id}  ${state} ${process} · ${models.join(', ')} · ${calls} calls${dated}`;
}

/** `dialectic show` and `dialectic export`: one session, and its folder where one is named. */
export function showCommand(verb: 'show' | 'export'): Command {
  const command = new Command(verb)
    .description(verb === 'show' ? 'show a session' : "write a session's folder")
    .argument('[session]', 'its id or the end of it (default: the newest)')
    .option('--data <dir>', 'data directory (default: DIALECTIC_DATA or ~/.dialectic)')
    .option('--json', 'print the result as JSON');
  if (verb === 'export') {
    command.option('-o, --out <dir>', "another folder (default: the session's own)");
  }
  return command.action((session: string | undefined, options: Options) =>
    withDialectic(options.data, async (dialectic) => {
      const { id, folder } = await findSession(dialectic, session);
      const out = verb === 'export' ? requireOut(id, options.out ?? folder) : undefined;
      const result = await dialectic.export(id, out);
      const notices = await dialectic.notices();
      const own = notices.filter((notice) => notice.topic === `session/${id}`);
      printResult(options.json === true, { ...result, notices: own }, [
        `${id} ${result.standing}: ${result.calls} calls, ${result.documents.length} documents`,
        ...result.documents.map(
          (document) =>
            `  ${document.shortId}  ${document.name} v${document.version} · ${document.model}`,
        ),
        ...(result.chosen ? [result.chosen.text] : []),
        ...(result.vote && result.chosen ? describeVote(result.vote) : []),
        ...describeDegraded(result),
        ...own.map((notice) => `! ${notice.message}`),
        ...(out === undefined ? [] : [`Written to ${showPath(resolve(out))}`]),
        ...mentionNotices(notices),
      ]);
    }),
  );
}

/** Where an export goes: a session that was started without a folder has none of its own. */
function requireOut(id: string, out: string | null): string {
  if (out !== null) return out;
  const message = `Session ${id} has no folder yet; name one: dialectic export ${id} -o DIR`;
  throw new DialecticError('usage_invalid', message);
}

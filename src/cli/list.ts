import { Command } from 'commander';
import type { SessionInfo } from '../api/data.ts';
import { now } from '../platform/clock.ts';
import { tellCounts } from '../session/counts.ts';
import { shortId } from '../session/name-document.ts';
import { describeAge } from './describe-age.ts';
import { mentionNotices } from './notices.ts';
import { printResult } from './output.ts';
import { withDialectic } from './store.ts';

type Options = { data?: string; json?: boolean; all?: boolean };

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
          ...describeSessions(own),
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
  `${project} (project ${shortId(projectId)}${archived ? ', archived' : ''})`;

/** Id, state and age in columns; then what it is. */
function describeSessions(sessions: readonly SessionInfo[]): string[] {
  const rows = sessions.map((session) => {
    const { createdAt, ahead } = session;
    const age = ahead ? `dated ${createdAt}, after now` : describeAge(new Date(createdAt), now());
    return { session, standing: session.standing, age };
  });
  const width = (column: 'standing' | 'age'): number =>
    Math.max(...rows.map((row) => row[column].length));
  const [standingWidth, ageWidth] = [width('standing'), width('age')];
  return rows.map(({ session, standing, age }) => {
    const { id, process, models, iteration } = session;
    const what = `${process} · ${models.join(', ')} · ${tellCounts(session, iteration)}`;
    const state = `${standing.padEnd(standingWidth)}  ${age.padEnd(ageWidth)}`;
    return `  ${shortId(id)}  ${state}  ${what}`;
  });
}

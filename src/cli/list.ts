import { Command } from 'commander';
import type { SessionInfo } from '../api/data.ts';
import { now } from '../platform/clock.ts';
import { tellCounts } from '../session/counts.ts';
import { shortId } from '../session/name-document.ts';
import { describeAge } from './describe-age.ts';
import { mentionNotices } from './notices.ts';
import { printRows } from './output.ts';
import { showPath } from './plan-folder.ts';
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
        const numbers = numberProjects(every);
        const projects = Map.groupBy(sessions, (session) => session.projectId);
        const lines = [...projects.values()].flatMap((own) => [
          describeProject(own[0]!, numbers.get(own[0]!.projectId)),
          ...describeSessions(own),
        ]);
        const empty = 'No sessions yet. Start one with: dialectic run BRIEF';
        printRows(options.json === true, sessions, [
          ...(every.length > 0 ? lines : [empty]),
          ...(hidden > 0 ? [`Sessions of archived projects: ${hidden}; dialectic list --all`] : []),
          ...mentionNotices(await dialectic.notices()),
        ]);
      }),
    );
}

const describeProject = (
  { project, projectId, archived }: SessionInfo,
  number: number | undefined,
): string =>
  `${project}${number === undefined ? '' : ` #${number}`} ` +
  `(project ${shortId(projectId)}${archived ? ', archived' : ''})`;

/** Numbers projects of the same name, the oldest first, as `--project` takes them. */
function numberProjects(sessions: readonly SessionInfo[]): ReadonlyMap<string, number> {
  const names = Map.groupBy(sessions, ({ project }) => project);
  const alike = [...names.values()]
    // Ids begin with the time at which they were made.
    .map((own) => [...new Set(own.map(({ projectId }) => projectId))].toSorted())
    .filter((ids) => ids.length > 1);
  return new Map(alike.flatMap((ids) => ids.map((id, at) => [id, at + 1] as const)));
}

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
    const { id, process, models, iteration, folder } = session;
    const place = folder === null ? [] : [showPath(folder)];
    const counts = tellCounts(session, iteration);
    const what = [process, models.join(', '), counts, ...place].join(' · ');
    const state = `${standing.padEnd(standingWidth)}  ${age.padEnd(ageWidth)}`;
    return `  ${shortId(id)}  ${state}  ${what}`;
  });
}

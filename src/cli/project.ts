import { Command } from 'commander';
import type { Dialectic } from '../api/dialectic.ts';
import type { DeletedProject, Expiry } from '../api/retention.ts';
import { countNoun } from '../text/count-noun.ts';
import { quoteWord } from '../text/quote-word.ts';
import { findTerminal, type Terminal } from './ask-questions.ts';
import { confirm } from './confirm.ts';
import { withExample } from './help-text.ts';
import { printRows } from './output.ts';
import { withDialectic, withRetention } from './store.ts';

type Options = { data?: string; json?: boolean; yes?: boolean; dryRun?: boolean };

/** `dialectic project`: delete projects for good, by name or by age, or hide them from lists. */
export function projectCommand(): Command {
  const project = new Command('project').description('delete, archive or expire projects');
  const verb = (name: string, description: string): Command =>
    project
      .command(name)
      .description(description)
      .option('--data <dir>', 'data directory (default: DIALECTIC_DATA or ~/.dialectic)')
      .option('--json', 'print the result as JSON');
  const named = (name: string, description: string): Command =>
    withExample(
      verb(name, description).argument('<project>', 'its name, its id or the end of it'),
      `dialectic project ${quoteWord(name)} brief`,
    );
  named('delete', 'erase a project with its sessions; what it cost stays in the ledger')
    .option('-y, --yes', 'do not ask')
    .action((wanted: string, options: Options) =>
      withDialectic(options.data, (dialectic) =>
        deleteProject(dialectic, wanted, options, findTerminal(options)),
      ),
    );
  named('archive', 'hide a project from `dialectic list`').action(
    (wanted: string, options: Options) =>
      withDialectic(options.data, async (dialectic) => {
        const archived = await dialectic.archiveProject(wanted);
        const back = `Bring it back with: dialectic project unarchive ${quoteWord(archived.id)}`;
        const line = `Archived ${archived.name}. \`dialectic list --all\` shows it. ${back}`;
        printRows(options.json === true, archived, [line]);
      }),
  );
  named('unarchive', 'show an archived project in `dialectic list` again').action(
    (wanted: string, options: Options) =>
      withDialectic(options.data, async (dialectic) => {
        const shown = await dialectic.unarchiveProject(wanted);
        printRows(options.json === true, shown, [`${shown.name} is listed again.`]);
      }),
  );
  verb('expire', 'delete the projects that were unused for the `retention` of the configuration')
    .option('--dry-run', 'only tell which they are')
    .action((options: Options) =>
      withRetention(options.data, (dialectic) => expire(dialectic, options)),
    );
  return project;
}

async function expire(dialectic: Dialectic, { json, dryRun }: Options): Promise<void> {
  const expiry = await dialectic.expireProjects({ dryRun });
  const { days, deleted, expired, kept } = expiry;
  const lines = [
    ...(dryRun ? expired.map(describeExpired) : deleted.map(describeDeleted)),
    ...kept.map(({ name, id }) => `Kept project ${name} (${id}): a session of it is in use.`),
  ];
  const none = `No project was unused for ${countNoun(days, 'day')}.`;
  printRows(json === true, expiry, lines.length > 0 ? lines : [none]);
}

const describeExpired = ({
  name,
  id,
  sessions,
  documents,
  lastUsedAt,
}: Expiry['expired'][number]): string =>
  `Would delete project ${name} (${id}): ${countNoun(sessions, 'session')}, ` +
  `${countNoun(documents, 'document')}, last used ${lastUsedAt.slice(0, 10)}.`;

/** Deletes a project after the person has agreed. */
export async function deleteProject(
  dialectic: Dialectic,
  wanted: string,
  options: Options,
  terminal: Terminal | null,
): Promise<void> {
  const { id, name, sessions, documents } = await dialectic.project(wanted);
  if (!options.yes) {
    const what = `${countNoun(sessions, 'session')} and ${countNoun(documents, 'document')}`;
    await confirm(`Delete project ${name} with ${what} for good?`, terminal);
  }
  const deleted = await dialectic.deleteProject(id);
  printRows(options.json === true, deleted, [describeDeleted(deleted)]);
}

const describeDeleted = ({ name, sessions, documents, bytes }: DeletedProject): string =>
  `Deleted project ${name}: ${countNoun(sessions, 'session')}, ${countNoun(documents, 'document')}, ` +
  `${countNoun(bytes, 'byte')} of text.`;

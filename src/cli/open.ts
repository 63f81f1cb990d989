import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import type { SessionInfo } from '../api/data.ts';
import type { Dialectic } from '../api/dialectic.ts';
import { requireMarked } from '../documents/owned-folder.ts';
import { DialecticError } from '../errors/errors.ts';
import { printResult } from './output.ts';
import { showPath } from './plan-folder.ts';
import { findShown, readShown } from './show.ts';
import { withDialectic } from './store.ts';
import { chooseViewers, startViewer, type Viewer } from './viewer.ts';

type Options = { data?: string; json?: boolean; session?: string; with?: string };

/** `dialectic open`: a document of the folder in the viewer of the system. */
export function openCommand(): Command {
  return new Command('open')
    .description("open a document of a session's folder in the viewer of the system")
    .argument(
      '[session or document]',
      'as for show (default: the first page of the newest session)',
    )
    .option('-s, --session <id>', "the document's session (default: the newest)")
    .option('--with <command>', 'the program to open it with, "$EDITOR" for example')
    .option('--data <dir>', 'data directory (default: DIALECTIC_DATA or ~/.dialectic)')
    .option('--json', 'print the result as JSON')
    .action(async (wanted: string | undefined, options: Options) => {
      const found = await withDialectic(options.data, async (dialectic) => {
        const shown = await findShown(dialectic, wanted, options);
        const { session } = shown;
        const { path } = await readShown(dialectic, shown);
        return { session: session.id, path: await findFile(dialectic, session, path) };
      });
      // After the store is closed: the person may look for an hour.
      const viewer = await view(found.path, options.with);
      const told = viewer ? `Opened ${showPath(found.path)} with ${viewer.command}.` : found.path;
      printResult(options.json === true, { ...found, viewer: viewer?.command ?? null }, [told]);
    });
}

/** The file of a page in the folder that the session keeps; written again where it is missing. */
async function findFile(
  dialectic: Dialectic,
  { id, folder, projectId }: SessionInfo,
  page: string,
): Promise<string> {
  if (folder === null) {
    const message = `Session ${id} has no folder yet; write one: dialectic export ${id} -o DIR`;
    throw new DialecticError('usage_invalid', message);
  }
  const path = join(folder, page);
  if (existsSync(folder)) await requireMarked(folder, { session: id, project: projectId });
  if (existsSync(path)) return path;
  const { folderProblem } = await dialectic.updateFolder(id);
  if (existsSync(path)) return path;
  const why = folderProblem ?? 'the folder lacks it.';
  throw new DialecticError('folder_unusable', `There is no ${path}: ${why}`);
}

/** The first viewer that could show the file; null where there is none, so that the path is told. */
async function view(path: string, named: string | undefined): Promise<Viewer | null> {
  for (const viewer of chooseViewers(process, named)) {
    if (await startViewer(viewer, path)) return viewer;
  }
  if (named === undefined) return null;
  throw new DialecticError('usage_invalid', `--with: "${named}" could not open ${path}.`);
}

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import type { SessionInfo } from '../api/data.ts';
import { requireMarked } from '../documents/owned-folder.ts';
import { DialecticError } from '../errors/errors.ts';
import { countNoun } from '../text/count-noun.ts';
import { describeNext } from './next-step.ts';
import { printResult } from './output.ts';
import { showPath } from './plan-folder.ts';
import { findSession } from './sessions.ts';
import { withDialectic } from './store.ts';

type Options = { data?: string; json?: boolean; out?: string; copies?: boolean };

/** `dialectic export`: writes the folder of a session, its own or another one. */
export function exportCommand(): Command {
  return new Command('export')
    .description("write a session's folder")
    .argument('[session]', 'its id or the end of it (default: the newest)')
    .option('-o, --out <dir>', "another folder (default: the session's own)")
    .option('--copies', 'with the files and pages that the sources were read from')
    .option('--data <dir>', 'data directory (default: DIALECTIC_DATA or ~/.dialectic)')
    .option('--json', 'print the result as JSON')
    .action((wanted: string | undefined, options: Options) =>
      withDialectic(options.data, async (dialectic) => {
        const found = await findSession(dialectic, wanted);
        const { id } = found;
        const out = options.out ?? (await requireOwn(found));
        const result = await dialectic.export(id, out, { copies: options.copies === true });
        printResult(options.json === true, result, [
          `${result.standing}: ${countNoun(result.documentCount, 'document')}, written to ${showPath(resolve(out))}`,
          ...describeNext({ ...result, folder: resolve(out) }),
        ]);
      }),
    );
}

/**
 * The folder of a session that was given one and still has it. Nothing is made where only the store
 * says so: it may be somebody else's.
 */
async function requireOwn({ id, folder, projectId }: SessionInfo): Promise<string> {
  const name = `name one: dialectic export ${id} -o DIR`;
  if (folder === null) {
    throw new DialecticError('usage_invalid', `Session ${id} has no folder yet; ${name}`);
  }
  if (!existsSync(folder)) {
    throw new DialecticError('usage_invalid', `There is no ${folder} any more; ${name}`);
  }
  await requireMarked(folder, { session: id, project: projectId });
  return folder;
}

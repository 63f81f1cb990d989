import { resolve } from 'node:path';
import { Command } from 'commander';
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
    .action((session: string | undefined, options: Options) =>
      withDialectic(options.data, async (dialectic) => {
        const { id, folder } = await findSession(dialectic, session);
        const out = requireOut(id, options.out ?? folder);
        const result = await dialectic.export(id, out, { copies: options.copies === true });
        printResult(options.json === true, result, [
          `${result.standing}: ${countNoun(result.documentCount, 'document')}, written to ${showPath(resolve(out))}`,
          ...describeNext({ ...result, folder: resolve(out) }),
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

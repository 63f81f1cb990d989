import { Command } from 'commander';
import { examineStore, restoreBackup } from '../api/examine-store.ts';
import { exitWith } from './exit-with.ts';
import { printResult } from './output.ts';

type DoctorOptions = { data?: string; restore?: boolean; json?: boolean };

/** `dialectic doctor`: looks the store over; with --restore, puts the last backup back. */
export function doctorCommand(): Command {
  return new Command('doctor')
    .description('check the store, or restore its last backup')
    .option('--data <dir>', 'data directory (default: DIALECTIC_DATA or ~/.dialectic)')
    .addHelpText('after', '\nDATABASE_URL overrides DIALECTIC_DATA; --data overrides both.')
    .option('--restore', 'put the newest backup that opens in place of the database')
    .option('--json', 'print the result as JSON')
    .action(async (options: DoctorOptions) => {
      await (options.restore ? restore(options) : examine(options));
    });
}

async function examine(options: DoctorOptions): Promise<void> {
  const findings = await examineStore({ dataDirectory: options.data });
  const ok = findings.every((finding) => finding.ok);
  const lines = findings.map(
    ({ check, ok, message }) => `${ok ? 'ok  ' : 'BAD '} ${check}: ${message}`,
  );
  printResult(options.json === true, { ok, findings }, lines);
  if (!ok) exitWith(3);
}

async function restore(options: DoctorOptions): Promise<void> {
  const { backup, kept } = await restoreBackup({ dataDirectory: options.data });
  printResult(options.json === true, { backup, kept }, [
    `Restored the backup of ${backup.createdAt}.`,
    'Whatever was saved after that moment is not in it.',
    kept ? `The files that it replaces are kept in ${kept}.` : 'There were no files to replace.',
  ]);
}

import { Command } from 'commander';
import { examineModels } from '../api/examine-models.ts';
import { describePreparation, examineStore, restoreBackup } from '../api/examine-store.ts';
import type { Finding } from '../db/doctor.ts';
import { toDialecticError } from '../errors/errors.ts';
import { readConfigurationFiles } from './configuration.ts';
import { exitWith } from './exit-with.ts';
import { describeKey, findKeys, type KnownKey } from './find-keys.ts';
import { printExactly, printResult } from './output.ts';

type DoctorOptions = { data?: string; restore?: boolean; sql?: boolean; json?: boolean };

/** `dialectic doctor`: looks store and models over; with --restore, puts the last backup back. */
export function doctorCommand(): Command {
  return new Command('doctor')
    .description('check store, keys, providers and models, and say what to do; or restore a backup')
    .option('--data <dir>', 'data directory (default: DIALECTIC_DATA or ~/.dialectic)')
    .addHelpText('after', '\nDATABASE_URL overrides DIALECTIC_DATA; --data overrides both.')
    .option('--restore', 'put the newest backup that opens in place of the database')
    .option('--sql', 'print what an administrator runs once in the database of DATABASE_URL')
    .option('--json', 'print the result as JSON')
    .action(async (options: DoctorOptions) => {
      if (options.sql === true) return prepare(options);
      await (options.restore ? restore(options) : examine(options));
    });
}

async function examine(options: DoctorOptions): Promise<void> {
  const store = await examineStore({ dataDirectory: options.data });
  const models = await examineConfiguration();
  const findings = [...store, ...models];
  const ok = findings.every((finding) => finding.ok);
  printResult(options.json === true, { ok, findings }, findings.flatMap(describeFinding));
  if (!store.every((finding) => finding.ok)) exitWith(3);
  else if (!ok) exitWith(6);
}

/** What can be said of providers and models; a file that cannot be used is a finding, too. */
async function examineConfiguration(): Promise<readonly Finding[]> {
  try {
    const files = readConfigurationFiles();
    return [describeKeys(findKeys()), ...(await examineModels(files))];
  } catch (thrown) {
    const { code, message, action } = toDialecticError(thrown);
    if (code === 'internal_error') throw thrown;
    return [{ check: 'configuration', ok: false, message: `${code}: ${message}`, next: action }];
  }
}

function describeKeys(keys: readonly KnownKey[]): Finding {
  const said = keys.map(({ provider, end, from }) => `${provider} ${describeKey({ end, from })}`);
  if (said.length > 0) return { check: 'keys', ok: true, message: said.join(', '), next: null };
  const next = 'Store one with: dialectic keys set PROVIDER, or use a server without keys.';
  return { check: 'keys', ok: true, message: 'no provider has one', next };
}

const describeFinding = ({ check, ok, message, next }: Finding): string[] => [
  `${ok ? 'ok  ' : 'BAD '} ${check}: ${message}`,
  ...(next === null ? [] : [`       ${next}`]),
];

function prepare(options: DoctorOptions): void {
  const sql = describePreparation({ dataDirectory: options.data });
  printExactly(options.json === true, { sql }, [sql.trimEnd()]);
}

async function restore(options: DoctorOptions): Promise<void> {
  const { backup, kept } = await restoreBackup({ dataDirectory: options.data });
  printResult(options.json === true, { backup, kept }, [
    `Restored the backup of ${backup.createdAt}.`,
    'Whatever was saved after that moment is not in it.',
    kept ? `The files that it replaces are kept in ${kept}.` : 'There were no files to replace.',
  ]);
}

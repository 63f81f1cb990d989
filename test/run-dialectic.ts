import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import { runProgram } from '../src/cli/run-program.ts';
import { afterTheFile, emptyDatabase } from './stores.ts';

const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));

/** What a command leaves behind. */
export type Ended = { code: number | null; stdout: string; stderr: string };
/** Where a command runs (a folder that goes away), and what its environment has beside the tests'. */
export type Place = { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> };

/** Two participants that write by rules: a run takes nobody unasked. */
export const OFFLINE = ['-m', 'offline/builder', '-m', 'offline/skeptic'] as const;

/** An environment in which the user's own configuration says this; a folder's would need trust. */
export async function ownConfiguration(
  text: string,
): Promise<{ readonly XDG_CONFIG_HOME: string }> {
  const home = elsewhere();
  await mkdir(join(home, 'dialectic'));
  await writeFile(join(home, 'dialectic/dialectic.config.yaml'), text);
  return { XDG_CONFIG_HOME: home };
}

let isBusy = false;

/**
 * Runs one command within this process, whose streams, folder, environment and exit code it borrows:
 * half a second of processor time less than a process. What is about signals, terminals or several
 * commands at once needs `spawnDialectic`.
 */
export async function runDialectic(
  parameters: readonly string[],
  { cwd = elsewhere(), env = {} }: Place = {},
): Promise<Ended> {
  if (isBusy) throw new Error('another command has the streams of this process');
  isBusy = true;
  const [home, exitCode] = [process.cwd(), process.exitCode];
  const ended: Ended = { code: null, stdout: '', stderr: '' };
  const catchers = (['stdout', 'stderr'] as const).map((stream) =>
    vi.spyOn(process[stream], 'write').mockImplementation((text) => {
      ended[stream] += String(text);
      return true;
    }),
  );
  const restore = setEnvironment({ DATABASE_URL: '', ...env });
  process.exitCode = undefined;
  process.chdir(cwd);
  try {
    await runProgram(parameters);
    return { ...ended, code: readExitCode() };
  } finally {
    isBusy = false;
    process.exitCode = exitCode;
    restore();
    for (const catcher of catchers) catcher.mockRestore();
    process.chdir(home);
  }
}

/** A run that names no folder makes one where it is started, which must not be the repository. */
function elsewhere(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dialectic-'));
  afterTheFile(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * A way to run many commands on one store, a database of the shared server: each command opens its
 * store, which takes 0.3 s of processor time where that is PGlite.
 */
export async function dialecticOnServer(
  place: Place = {},
): Promise<(...parameters: string[]) => Promise<Ended>> {
  const env = { ...place.env, DATABASE_URL: await emptyDatabase() };
  return (...parameters) => runDialectic(parameters, { ...place, env });
}

const readExitCode = (): number => Number(process.exitCode ?? 0);

function setEnvironment(values: Readonly<Record<string, string>>): () => void {
  const before = Object.keys(values).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, values);
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
}

/** Starts the program as a process of its own, as a user would; `ended` tells what it left behind. */
export function spawnDialectic(
  parameters: readonly string[],
  { cwd = elsewhere(), env }: Place = {},
) {
  const child = spawn(process.execPath, [main, ...parameters], {
    env: { ...process.env, DATABASE_URL: '', ...env },
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const left = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (left.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (left.stderr += text));
  const ended = new Promise<Ended>((resolve) =>
    child.on('close', (code) => resolve({ ...left, code })),
  );
  return { child, ended };
}

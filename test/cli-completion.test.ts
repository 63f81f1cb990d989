import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { beforeAll, describe, expect, test } from 'vitest';
import { createProgram } from '../src/cli/program.ts';
import { runDialectic } from './run-dialectic.ts';
import { emptyDirectory, temporaryFolder } from './stores.ts';

const run = promisify(execFile);
let folder: string;

const scriptOf = async (shell: string): Promise<string> => {
  const { code, stdout, stderr } = await runDialectic(['completion', shell], { cwd: folder });
  expect(code, stderr).toBe(0);
  return stdout;
};

beforeAll(async () => {
  folder = await temporaryFolder();
  for (const shell of ['bash', 'zsh', 'fish']) {
    await writeFile(join(folder, `script.${shell}`), await scriptOf(shell));
  }
  await writeFile(join(folder, 'brief.md'), 'A brief.');
});

const isInstalled = (shell: string): boolean =>
  (process.env['PATH'] ?? '').split(':').some((path) => existsSync(join(path, shell)));

/** A typed line, the last word unfinished, and what must be offered for it. */
const LINES: readonly (readonly [string, readonly string[]])[] = [
  ['dialectic recipe sh', ['show']],
  ['dialectic recipe list --js', ['--json']],
  ['dialectic run --depth ', ['brief', 'standard', 'full']],
  ['dialectic run brief.md -p deci', ['decision-memo']],
  ['dialectic run --until synth', ['synthesis']],
  ['dialectic run -m offline/s', ['offline/skeptic', 'offline/steward']],
  ['dialectic run --domain pub', ['public-policy']],
  ['dialectic run -m openai/gpt-5 bri', ['brief.md']],
  ['dialectic feedback para', ['paralysis']],
  ['dialectic completion ', ['bash', 'zsh', 'fish']],
];

const VERBS = (await createProgram()).commands.map((command) => command.name());

describe.each(['bash', 'fish'])('%s', (shell) => {
  const complete = async (line: string): Promise<string[]> => {
    const bash =
      'source script.bash; read -ra COMP_WORDS <<< "$1"; [[ $1 == *" " ]] && COMP_WORDS+=("")\n' +
      'COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _dialectic; printf "%s\\n" "${COMPREPLY[@]}"';
    const fish = 'source script.fish; complete -C "$argv[1]"';
    const [flags, program] = shell === 'bash' ? [['-c', bash, 'bash'], line] : [['-c', fish], line];
    const { stdout } = await run(shell, [...flags, program], { cwd: folder });
    return stdout.split('\n').flatMap((offer) => offer.split('\t')[0]?.trim() || []);
  };

  test.skipIf(!isInstalled(shell))('offers verbs, options and values', async () => {
    expect((await complete('dialectic ')).toSorted()).toEqual(VERBS.toSorted());
    for (const [line, offers] of LINES) {
      expect((await complete(line)).toSorted(), line).toEqual(offers.toSorted());
    }
  });
});

test.skipIf(!isInstalled('zsh'))('zsh reads its script', async () => {
  await expect(run('zsh', ['-n', 'script.zsh'], { cwd: folder })).resolves.toBeDefined();
});

test.each(['bash', 'zsh', 'fish'])(
  'the script of %s holds every verb and option',
  async (shell) => {
    const script = await scriptOf(shell);
    const long = (command: Command): string[] => [
      ...command.options.filter(({ hidden }) => !hidden).map((option) => option.long!.slice(2)),
      ...command.commands.flatMap((verb) => [verb.name(), ...long(verb)]),
    ];
    expect(long(await createProgram()).filter((word) => !script.includes(word))).toEqual([]);
  },
);

test('a shell that is missing or unknown is refused with those that there are', async () => {
  const unknown = await runDialectic(['completion', 'tcsh']);
  expect(unknown).toMatchObject({ code: 2, stdout: '' });
  expect(unknown.stderr).toContain('Allowed choices are bash, zsh, fish.');
  const none = await runDialectic(['completion']);
  expect(none.stderr).toContain('Name a shell: bash, zsh, fish.');
});

test('sessions are offered from the store, and none is made for them', async () => {
  const missing = join(folder, 'none');
  const offered = (data: string) =>
    runDialectic(['completion', '--sessions', '--json'], { env: { DIALECTIC_DATA: data } });
  expect(JSON.parse((await offered(missing)).stdout)).toEqual({ sessions: [] });
  expect(await readdir(folder)).not.toContain('none');
  const data = await emptyDirectory();
  const brief = join(folder, 'brief.md');
  const models = ['-m', 'offline/builder', '-m', 'offline/skeptic'];
  const words = ['run', brief, '-p', 'decision-memo', ...models, '--until', 'clarify'];
  const started = await runDialectic([...words, '--data', data, '--yes', '--json'], {
    cwd: folder,
  });
  const { session } = JSON.parse(started.stdout);
  expect(JSON.parse((await offered(data)).stdout)).toEqual({ sessions: [session] });
});

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { beforeAll, describe, expect, test } from 'vitest';
import { createProgram } from '../src/cli/program.ts';
import { ownConfiguration, runDialectic } from './run-dialectic.ts';
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
  ['dialectic run --source bri', ['brief.md']],
  ['dialectic sources add bri', ['brief.md']],
  ['dialectic feedback para', ['paralysis']],
  ['dialectic completion ', ['bash', 'zsh', 'fish']],
  ['dialectic keys set anth', ['anthropic']],
  ['dialectic recipe insert decision-memo rese', ['research']],
  ['dialectic help wal', ['wallet']],
];

/** Every command, its verbs and its options, and the line that they are offered for. */
const describeProgram = (
  command: Command,
  parent = '',
): (readonly [string, readonly string[]])[] => {
  const path = `${parent}${command.name()}`;
  const flags = command.options.filter(({ hidden }) => !hidden).map(({ long }) => long!);
  const verbs = command.commands.map((verb) => verb.name());
  return [
    [`${path} --`, [...flags, '--help']],
    ...(verbs.length > 0 ? [[`${path} `, [...verbs, 'help']] as const] : []),
    ...command.commands.flatMap((verb) => describeProgram(verb, `${path} `)),
  ];
};

const EVERYTHING = describeProgram(await createProgram());

/**
 * Programs of the shells that offer something for every line of the file `lines`. zsh itself completes
 * nothing without a terminal: the functions through which it takes offers print them.
 */
const PROGRAMS: Readonly<Record<string, string>> = {
  bash: `source script.bash
    while IFS= read -r line; do
      read -ra COMP_WORDS <<< "$line"; [[ $line == *" " ]] && COMP_WORDS+=("")
      COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); echo "> $line"; _dialectic
      printf "%s\\n" "\${COMPREPLY[@]}"
    done < lines`,
  fish: `source script.fish
    while read -l line; echo "> $line"; complete -C "$line"; end < lines`,
  zsh: `compdef() {}
    _describe() { local -a offered; offered=("\${(@P)@[-1]}"); print -l -- "\${(@)offered%%:*}"; }
    compadd() { while [[ $1 == -* ]]; do [[ $1 == -S ]] && shift; shift; done; print -l -- "$@"; }
    _files() { print -l -- *; }
    source script.zsh
    while IFS= read -r line; do
      words=(\${=line}); [[ $line == *" " ]] && words+=("")
      CURRENT=\${#words}; print -r -- "> $line"; _dialectic
    done < lines`,
};

/** What a shell offers for each line; zsh takes those that fit from what it is given. */
async function complete(
  shell: string,
  lines: readonly string[],
  { cwd = folder, env = process.env }: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Map<string, string[]>> {
  await writeFile(join(cwd, 'lines'), `${lines.join('\n')}\n`);
  const { stdout } = await run(shell, ['-c', PROGRAMS[shell]!], { cwd, env });
  const parts = stdout.split(/^> /m).slice(1);
  return new Map(
    parts.map((part, at) => {
      const [, ...offered] = part.split('\n');
      const typed = lines[at]!.slice(lines[at]!.lastIndexOf(' ') + 1);
      const names = offered.map((offer) => offer.split('\t')[0]!.trim());
      return [lines[at]!, names.filter((name) => name !== '' && name.startsWith(typed))];
    }),
  );
}

describe.each(['bash', 'zsh', 'fish'])('%s', (shell) => {
  test.skipIf(!isInstalled(shell))('offers every verb and option, and values', async () => {
    const offers = await complete(
      shell,
      [...EVERYTHING, ...LINES].map(([line]) => line),
    );
    expect(EVERYTHING.length).toBeGreaterThan(50);
    for (const [line, wanted] of EVERYTHING) {
      expect(
        offers
          .get(line)!
          .filter((word) => wanted.includes(word))
          .toSorted(),
        line,
      ).toEqual(wanted.toSorted());
    }
    for (const [line, wanted] of LINES) {
      expect(offers.get(line)!.toSorted(), line).toEqual(wanted.toSorted());
    }
  });
});

/** Words that run a command wherever a shell expands them a second time. */
const EXPANDED = ['$(touch${IFS}pwned)', '`touch${IFS}pwned`', '(touch pwned)', 'a;touch pwned'];
const SESSION = '01890000-0000-7000-8000-000000000001';

describe.each(['bash', 'zsh', 'fish'])('%s runs nothing that it is offered', (shell) => {
  test.skipIf(!isInstalled(shell))('by a store, as the id of a session', async () => {
    const cwd = await temporaryFolder();
    const bin = join(cwd, 'bin');
    await mkdir(bin);
    const ids = [...EXPANDED, SESSION].map((id) => `'${id}'`).join(' ');
    await writeFile(join(bin, 'dialectic'), `#!/bin/sh\nprintf '%s\\n' ${ids}\n`);
    await chmod(join(bin, 'dialectic'), 0o755);
    await writeFile(join(cwd, `script.${shell}`), await scriptOf(shell));
    const env = { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH']}` };
    const offers = await complete(shell, ['dialectic show '], { cwd, env });
    expect(offers.get('dialectic show ')).toContain(SESSION);
    expect(await readdir(cwd)).not.toContain('pwned');
    // bash inserts a candidate as it is, so that Enter would run it.
    if (shell === 'bash') expect(offers.get('dialectic show ')).toEqual([SESSION]);
  });

  test.skipIf(!isInstalled(shell))('by a configuration, as the name of a model', async () => {
    const cwd = await temporaryFolder();
    const env = await ownConfiguration(hostileModels('openai'));
    const { stdout } = await runDialectic(['completion', shell], { env });
    await writeFile(join(cwd, `script.${shell}`), stdout);
    const offers = await complete(shell, ['dialectic run -m openai/'], { cwd });
    expect(offers.get('dialectic run -m openai/')).toEqual(['openai/', 'openai/plain-1']);
    expect(await readdir(cwd)).not.toContain('pwned');
  });
});

const hostileModels = (provider: string): string => {
  const ids = ['plain-1', ...EXPANDED, "'; touch pwned; '", '\\', '* ?'].map(
    (name) => `  ${JSON.stringify(`${provider}/${name}`)}: {price: {input: 9, output: 9}}\n`,
  );
  return `models:\n${ids.join('')}`;
};

test.each(['bash', 'zsh', 'fish'])(
  'the script of %s holds models of the user, none with what a shell expands, none of the folder',
  async (shell) => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'dialectic.config.yaml'), hostileModels('anthropic'));
    const env = await ownConfiguration(hostileModels('openai'));
    const { code, stdout, stderr } = await runDialectic(['completion', shell], { cwd, env });
    expect(code, stderr).toBe(0);
    expect(stdout).toContain('openai/plain-1');
    expect(stdout).not.toContain('anthropic/plain-1');
    expect(stdout).not.toContain('pwned');
    expect(stdout).not.toContain('* ?');
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

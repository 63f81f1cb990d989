import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { createProgram } from '../src/cli/program.ts';
import { EXIT_CODES } from '../src/errors/error-code.ts';
import { runDialectic, spawnDialectic } from './run-dialectic.ts';
import { temporaryFolder } from './stores.ts';

type Verb = { readonly words: readonly string[]; readonly command: Command };

/** The commands that do something, each with the words that call it. */
const verbsOf = (command: Command, words: readonly string[] = []): Verb[] =>
  command.commands.flatMap((verb) => {
    const own = { words: [...words, verb.name()], command: verb };
    const isGroup = verb.commands.length > 0 && !takesJson(verb);
    return [...(isGroup ? [] : [own]), ...verbsOf(verb, own.words)];
  });

/** An option of a group is one of its verbs, too. */
const takesJson = (command: Command | null): boolean =>
  command !== null &&
  (command.options.some(({ long }) => long === '--json') || takesJson(command.parent));

const verbs = verbsOf(await createProgram());
const line = ({ words }: Verb): string => words.join(' ');
/** Something for every argument and option that a verb requires. */
const fillers = ({ command }: Verb): string[] => [
  ...command.registeredArguments.filter(({ required }) => required).map(() => '1'),
  ...command.options.filter(({ mandatory }) => mandatory).flatMap(({ long }) => [long!, '1']),
];

/** The one JSON value on stderr; stdout must be empty. */
async function failureOf(words: readonly string[]) {
  const { code, stdout, stderr } = await runDialectic(words);
  expect(stdout, words.join(' ')).toBe('');
  return { code, error: JSON.parse(stderr).error };
}

test('every verb has --json', () => {
  expect(verbs.length).toBeGreaterThan(30);
  expect(verbs.filter(({ command }) => !takesJson(command)).map(line)).toEqual([]);
});

test('with --json a usage error of any verb is JSON on stderr and nothing on stdout', async () => {
  for (const verb of verbs) {
    const words = [...verb.words, ...fillers(verb), '--no-such-option', '--json'];
    const { code, error } = await failureOf(words);
    expect(code).toBe(2);
    expect(error).toMatchObject({ code: 'usage_invalid', retryable: false });
    expect(error.message).toContain(`'--no-such-option'`);
    expect(error.action).toContain(`dialectic ${line(verb)} --help`);
  }
  for (const words of [
    ['lst', '--json'],
    ['recipe', '--json'],
    ['show', '1', '2', '--json'],
  ]) {
    expect((await failureOf(words)).error.code).toBe('usage_invalid');
  }
  const { error } = await failureOf(['lst', '--json']);
  expect(error.message).toBe("Unknown command 'lst'. (Did you mean list?)");
  expect(error.action).toBe('`dialectic --help` lists what it takes.');
});

test('a usage error names the mistake and the help, and a lone program name prints help', async () => {
  const wrong = await runDialectic(['list', '--jsn']);
  expect(wrong).toMatchObject({ code: 2, stdout: '' });
  expect(wrong.stderr).toBe(
    "dialectic: Unknown option '--jsn'. (Did you mean --json?)\n" +
      '  `dialectic list --help` lists what it takes. (usage_invalid)\n',
  );
  const alone = await runDialectic([]);
  expect(alone).toMatchObject({ code: 0, stderr: '' });
  expect(alone.stdout).toContain('Usage: dialectic');
});

test('with --json a store that does not open is a JSON error of every verb that has one', async () => {
  const data = join(await temporaryFolder(), 'a-file');
  await writeFile(data, '');
  const reads = ['list', 'show', 'export', 'questions', 'wallet show', 'notices', 'pause'];
  for (const verb of verbs.filter((one) => reads.includes(line(one)))) {
    const words = [...verb.words, ...fillers(verb), '--data', data, '--json'];
    const { code, error } = await failureOf(words);
    expect([code, error.code], line(verb)).toEqual([3, 'data_directory_unusable']);
  }
});

test('a reader that closes the pipe gets no stack trace', async () => {
  const { child, ended } = spawnDialectic(['recipe', 'show', 'software-plan', '--json']);
  child.stdout.destroy();
  expect(await ended).toMatchObject({ code: 0, stderr: '' });
});

test('only the typed table sets exit codes', () => {
  const source = fileURLToPath(new URL('../src', import.meta.url));
  const places = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .filter((path) => /process\.exit(Code =|\()/.test(readFileSync(join(source, path), 'utf8')));
  expect(places).toEqual(['cli/exit-with.ts']);
  const launcher = readFileSync(new URL('../bin/dialectic.cjs', import.meta.url), 'utf8');
  const codes = [...launcher.matchAll(/exitCode = (\d+)/g)].map(([, code]) => code!);
  expect(codes.filter((code) => !Object.hasOwn(EXIT_CODES, code))).toEqual([]);
});

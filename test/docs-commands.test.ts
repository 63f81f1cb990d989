import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { createProgram } from '../src/cli/program.ts';
import { blocksOf, commandsOf } from './docs-blocks.ts';
import { LONG_PAGES, PAGES, RUN_PAGES, root, runPage } from './docs-pages.ts';
import { NPM_LINES, toCommands } from './docs-stand-ins.ts';

const short = RUN_PAGES.filter((path) => !LONG_PAGES.includes(path));

test.each(short)('the commands of %s run as they are written', runPage);

/** The command that words name, and those of the words that are left for it. */
function find(words: readonly string[], command: Command): [Command, readonly string[]] {
  const verb = command.commands.find((one) => one.name() === words[0]);
  return verb === undefined ? [command, words] : find(words.slice(1), verb);
}

const program = await createProgram();

/** What is wrong with a command as a page writes it: a verb or an option that does not exist. */
function mistakesIn(written: string): string[] {
  const words = written.split(/\s+/).slice(1);
  const [command, rest] = find(words, program);
  const isVerb = command.parent !== null || rest.length === 0 || rest[0]!.startsWith('-');
  if (!isVerb && !/^[A-Z…]/.test(rest[0]!)) return [`${written}: no verb ${rest[0]}`];
  const chain: Command[] = [];
  for (let one: Command | null = command; one !== null; one = one.parent) chain.push(one);
  const known = chain.flatMap(({ options }) => options.flatMap(({ short, long }) => [short, long]));
  return rest
    .filter((word) => /^--?[a-z]/.test(word))
    .map((word) => word.replace(/[=,.;:)].*$/, ''))
    .filter((flag) => !['--help', '-h', '--version', '-V', ...known].includes(flag))
    .map((flag) => `${written}: no option ${flag}`);
}

test('every command that a page mentions exists, with its options', () => {
  const wrong = [...PAGES].flatMap(([path, text]) => {
    const outside = text.replaceAll(/^```[\s\S]*?^```/gm, '');
    const inline = [...outside.matchAll(/`(dialectic [^`]+)`/g)].map(([, code]) => code!);
    const fenced = blocksOf(text)
      .filter(({ language }) => language !== 'text')
      .flatMap(({ text: body }) => commandsOf(body).flatMap(({ command }) => toCommands(command)))
      .filter((command) => command.startsWith('dialectic '));
    const single = (code: string): string => code.replaceAll(/\s+/g, ' ').split(/ [|>&] /)[0]!;
    return [...inline, ...fenced]
      .flatMap((code) => mistakesIn(single(code)))
      .map((one) => `${path}: ${one}`);
  });
  expect(wrong).toEqual([]);
});

test('every command of npm that a page mentions is a script, or a test carries it out', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const loose = [...PAGES].flatMap(([path, text]) => {
    const outside = text.replaceAll(/^```[\s\S]*?^```/gm, '');
    const inline = [...outside.matchAll(/`((?:npm|npx) [^`]+)`/g)].map(([, code]) => code!);
    const fenced = blocksOf(text)
      .filter(({ language }) => language === 'sh')
      .flatMap(({ text: body }) => commandsOf(body).map(({ command }) => command))
      .filter((command) => /^np[mx] /.test(command));
    return [...inline, ...fenced]
      .map((code) => code.replaceAll(/\s+/g, ' '))
      .filter((code) => !Object.hasOwn(scripts, /^npm run ([\w:]+)( |$)/.exec(code)?.[1] ?? ''))
      .filter((code) => !existsSync(join(root, NPM_LINES[code] ?? 'none')))
      .filter((code) => code !== 'npm warn EBADENGINE')
      .map((code) => `${path}: ${code}`);
  });
  expect(loose).toEqual([]);
});

test('commands that a page shows stand in blocks that are run', () => {
  const loose = [...PAGES].flatMap(([path, text]) =>
    blocksOf(text)
      .filter(({ language }) => language !== 'sh' && language !== 'text')
      .filter(({ text: body }) => /^\s*(\$ )?dialectic /m.test(body))
      .map(({ line }) => `${path}:${line}`),
  );
  expect(loose).toEqual([]);
  for (const path of ['README.md', 'docs/tutorial.md', 'docs/install.md', 'docs/eval.md']) {
    expect(RUN_PAGES).toContain(path);
  }
});

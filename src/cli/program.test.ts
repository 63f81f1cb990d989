import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { commandLineOf, exampleOf } from './help-text.ts';
import { createProgram } from './program.ts';

const namesFor = async (...parameters: string[]) =>
  (await createProgram(parameters)).commands.map((command) => command.name());

test('a command line loads the verb that it begins with, and no other', async () => {
  const names = await namesFor();
  expect(names).toContain('list');
  for (const name of names) expect(await namesFor(name, '--json')).toEqual([name]);
});

test('the version loads no verb', async () => {
  expect(await namesFor('--version')).toEqual([]);
  expect(await namesFor('-V')).toEqual([]);
});

test('the help and a misspelt verb know all of them', async () => {
  const names = await namesFor();
  expect(await namesFor('--help')).toEqual(names);
  expect(await namesFor('lits')).toEqual(names);
  expect(await namesFor('constructor')).toEqual(names);
});

test('the help fits into a window of 80 columns without breaking a word', async () => {
  const program = await createProgram();
  program.configureOutput({ getOutHelpWidth: () => 80 });
  const lines = program.helpInformation().split('\n');
  expect(lines.find((line) => line.includes('  run '))).toContain('run [brief]');
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
});

const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];
const usageIn = (command: Command): string =>
  /^Usage: (.*)$/m.exec(command.helpInformation())?.[1] ?? '';

test('the help of every command marks what it cannot do without', async () => {
  for (const command of all(await createProgram())) {
    const help = command.helpInformation().replaceAll(/\s+/g, ' ');
    for (const option of command.options.filter(({ mandatory }) => mandatory)) {
      expect(usageIn(command)).toContain(`${option.long} <`);
      expect(help).toMatch(new RegExp(`${option.long} <[^>]+> [^-]*\\(required\\)`));
    }
    for (const argument of command.registeredArguments) {
      expect(argument.description, `${commandLineOf(command)} ${argument.name()}`).not.toBe('');
      if (argument.required) expect(help).toMatch(/ \(required\)/);
    }
  }
});

test('a command that needs something has an example, which names what there is', async () => {
  const program = await createProgram();
  const needing = all(program).filter(
    (one) => /<[^>]+>/.test(usageIn(one)) || one.options.some(({ mandatory }) => mandatory),
  );
  expect(needing.length).toBeGreaterThan(15);
  for (const command of needing) {
    const example = exampleOf(command) ?? '';
    expect(example, commandLineOf(command)).toMatch(new RegExp(`^${commandLineOf(command)} `));
    const known = command.options.flatMap(({ short, long }) => [short, long]);
    const flags = example.replaceAll(/'[^']*'/g, '').match(/ --?[a-z][a-z-]*/g) ?? [];
    for (const flag of flags) expect(known).toContain(flag.trim());
    for (const { mandatory, long } of command.options)
      if (mandatory) expect(example).toContain(long);
    const required = command.registeredArguments.filter((one) => one.required).length;
    expect(example.split(' ').length).toBeGreaterThanOrEqual(required);
  }
});

test('a list of commands and the help of one show the arguments in one order', async () => {
  const recipe = (await createProgram(['recipe'])).commands[0]!;
  for (const verb of recipe.commands) {
    const own = usageIn(verb).replace(/^.*\[options\] ?/, '');
    expect(recipe.helpInformation()).toContain(`  ${verb.name()} ${own}`.trimEnd());
  }
});

import { expect, test } from 'vitest';
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

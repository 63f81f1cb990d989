import { execFileSync } from 'node:child_process';
import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFifo } from '../../test/make-fifo.ts';
import { temporaryFolder } from '../../test/stores.ts';
import { readBrief } from './brief.ts';

const SENTENCE = 'Should our town library open on Sundays?';

test('a sentence is the brief itself, named after its first words', async () => {
  const name = 'Should our town library open on';
  expect(await readBrief(SENTENCE)).toEqual({ name, brief: SENTENCE });
});

test('a file is read, also one whose name is a sentence', async () => {
  const path = join(await temporaryFolder(), 'what we want to build');
  await writeFile(path, 'A bakery.');
  expect(await readBrief(path)).toEqual({ name: 'what we want to build', brief: 'A bakery.' });
});

test.each(['breif.md', 'my new brief for the shop.md', 'no such brief'])(
  'a path with a mistake, %s, is no brief',
  async (path) => {
    await expect(readBrief(path)).rejects.toMatchObject({ code: 'usage_invalid' });
  },
);

test('a brief without a word says what a brief is', async () => {
  await expect(readBrief(' ')).rejects.toThrow('name a text file, or write the brief itself');
  const path = join(await temporaryFolder(), 'empty.md');
  await writeFile(path, '\n');
  await expect(readBrief(path)).rejects.toThrow(`${path} is empty: a brief says what`);
});

test('a FIFO or a device is refused by name, without waiting for what it may say', async () => {
  const fifo = join(await temporaryFolder(), 'brief.md');
  makeFifo(fifo);
  for (const path of [fifo, '/dev/zero']) {
    await expect(readBrief(path)).rejects.toMatchObject({
      code: 'usage_invalid',
      message: `Cannot read the brief: ${path} is a pipe, a device or a socket, and no file. Name a file.`,
    });
  }
});

test('a file that is too large is refused before it is in memory', async () => {
  const path = join(await temporaryFolder(), 'brief.md');
  await writeFile(path, '');
  await truncate(path, 2_000_000_000);
  const before = process.memoryUsage.rss();
  await expect(readBrief(path)).rejects.toThrow(`The brief ${path} has over 2000000 characters.`);
  expect(process.memoryUsage.rss() - before).toBeLessThan(200_000_000);
});

const program = (path: string): string => `
  import { readBrief } from ${JSON.stringify(new URL('brief.ts', import.meta.url))};
  try {
    const { name, brief } = await readBrief(${JSON.stringify(path)});
    console.log(name + ': ' + brief.length);
  } catch (error) {
    console.log(error.message);
  }
  process.exit();
`;
const inShell = (command: string, path: string): string =>
  execFileSync('bash', ['-c', command, process.execPath, program(path)], {
    encoding: 'utf8',
    timeout: 60_000,
  }).trim();

test.each([
  ['standard input', 'echo A bakery | "$0" --input-type=module -e "$1"', '-'],
  ['standard input as a path', 'echo A bakery | "$0" --input-type=module -e "$1"', '/dev/stdin'],
  [
    'a descriptor of the shell',
    'exec 7< <(echo A bakery); "$0" --input-type=module -e "$1" 7<&7',
    '/dev/fd/7',
  ],
])('%s is a brief', (_, command, path) => {
  expect(inShell(command, path)).toMatch(/: 9$/);
});

test('a command without an end behind standard input is refused at the limit', () => {
  const said = inShell('yes | "$0" --input-type=module -e "$1"', '-');
  expect(said).toBe('The brief on standard input has over 2000000 characters.');
});

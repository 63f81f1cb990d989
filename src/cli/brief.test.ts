import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
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

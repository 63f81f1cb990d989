import { expect, test } from 'vitest';
import { DialecticError } from '../errors/errors.ts';
import { BrokenOff } from '../platform/clock.ts';
import { FolderOfRun } from './folder-of-run.ts';

const WRITTEN = { folder: '/out', folderProblem: null };

test.each([
  ['is broken off', new BrokenOff('ended')],
  ['meets a store that is away', new DialecticError('database_unreachable', 'It is away.')],
])('an update that %s leaves the folder behind, and says nothing', async (_, thrown) => {
  let updates = 0;
  const folder = new FolderOfRun(async () => {
    if (updates++ === 0) throw thrown;
    return WRITTEN;
  });
  folder.note('stage-completed');
  expect(await folder.writeBehind()).toEqual([]);
  expect(folder.isBehind).toBe(true);

  await folder.writeBehind();
  expect(folder.isBehind).toBe(false);
  await folder.writeBehind();
  expect(updates).toBe(2);
});

test('a folder that cannot be written is told once, and again when it was well meanwhile', async () => {
  const problem = { folder: '/out', folderProblem: 'no room' };
  const updates = [problem, problem, WRITTEN, problem];
  const folder = new FolderOfRun(async () => updates.shift()!);
  const told: number[] = [];
  while (updates.length > 0) {
    folder.note('document-rendered');
    told.push((await folder.writeBehind()).length);
  }
  expect(told).toEqual([1, 0, 0, 1]);
});

test('what else goes wrong is thrown, and the folder stays behind', async () => {
  const folder = new FolderOfRun(async () => {
    throw new Error('a fault of the program');
  });
  folder.note('stage-completed');
  await expect(folder.writeBehind()).rejects.toThrow('a fault of the program');
  expect(folder.isBehind).toBe(true);
});

import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test/stores.ts';
import { DiskWatch, readFreeNow } from './disk-watch.ts';

test('a full disk is named with what is free and what is needed to go on', async () => {
  const folder = await temporaryFolder();
  const reserve = 2 * (readFreeNow(folder) ?? 0);
  const watch = new DiskWatch(folder, reserve);
  expect(await watch.look(true)).toBe(true);
  const { message, details } = watch.fullError();
  const needed = Math.ceil((reserve * 1.25) / 1e6);
  expect(message).toMatch(new RegExp(`^The disk of ${folder} is full: \\d+ MB are free, `));
  expect(message).toContain(`, ${needed} MB are needed to go on; nothing more is written`);
  expect(details).toMatchObject({ directory: folder, neededBytes: reserve * 1.25 });
  // It is told once for each new text: it must not change with every byte.
  expect(watch.fullError().message).toBe(message);
});

test('a disk that has room, to which nothing can be written, is told as such', async () => {
  const watch = new DiskWatch(await temporaryFolder(), 1_000);
  watch.noteFull();
  expect(watch.fullError().message).toMatch(/ although \d+ MB are free: a quota may be used up; /);
});

import { expect, test } from 'vitest';
import { PatientLimit } from './patient-limit.ts';

/** Enters and says so. */
function enter(limit: PatientLimit, entered: string[], name: string): Promise<void> {
  return limit.enter().then(() => void entered.push(name));
}

test('a caller waits for one of two places, and gets that of the first who leaves', async () => {
  const limit = new PatientLimit(10);
  const entered: string[] = [];
  await Promise.all([enter(limit, entered, 'a'), enter(limit, entered, 'b')]);
  const third = enter(limit, entered, 'c');
  const fourth = enter(limit, entered, 'd');
  expect(entered).toEqual(['a', 'b']);
  limit.leave();
  await third;
  limit.leave();
  await fourth;
  expect(entered).toEqual(['a', 'b', 'c', 'd']);
});

test('a caller that waited in vain gets a place of its own, which stays', async () => {
  const limit = new PatientLimit(3);
  await Promise.all([limit.enter(), limit.enter()]);
  await limit.enter(); // nobody leaves
  for (let n = 0; n < 3; n++) limit.leave();
  const entered: string[] = [];
  for (const name of ['a', 'b', 'c']) void enter(limit, entered, name);
  await Promise.resolve();
  await Promise.resolve();
  expect(entered).toEqual(['a', 'b', 'c']);
});

test('with all places in use nobody waits here: the pool has a queue of its own', async () => {
  const limit = new PatientLimit(1);
  await limit.enter();
  await limit.enter();
});

import { expect, onTestFinished, test, vi } from 'vitest';
import { sleep } from '../platform/clock.ts';
import { PatientLimit } from './patient-limit.ts';

/** Enters, says so, and gives back what ends the stay. */
async function enter(limit: PatientLimit, entered: string[], name: string): Promise<() => void> {
  const leave = await limit.enter();
  entered.push(name);
  return leave;
}

test('a caller waits for one of two places, and gets that of the first who leaves', async () => {
  const limit = new PatientLimit(10, 2);
  const entered: string[] = [];
  const [leaveA, leaveB] = await Promise.all([
    enter(limit, entered, 'a'),
    enter(limit, entered, 'b'),
  ]);
  const third = enter(limit, entered, 'c');
  const fourth = enter(limit, entered, 'd');
  expect(entered).toEqual(['a', 'b']);
  leaveA();
  await third;
  leaveB();
  await fourth;
  expect(entered).toEqual(['a', 'b', 'c', 'd']);
});

test('who stays for long takes no place from others', async () => {
  const limit = new PatientLimit(10, 2);
  await Promise.all([limit.enter(), limit.enter()]);
  await sleep(300); // three times as long as makes a stay long, and nobody leaves
  const entered: string[] = [];
  await limit.enter();
  void enter(limit, entered, 'beside one who has just come');
  await Promise.resolve();
  await Promise.resolve();
  expect(entered).toHaveLength(1);
});

test('a timer that fires early adds no place for one who waits behind long stays', async () => {
  let time = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => time);
  onTestFinished(() => {
    clock.mockRestore();
  });
  const limit = new PatientLimit(10, 2);
  await Promise.all([limit.enter(), limit.enter()]);
  const third = limit.enter();
  time = 99.5;
  await sleep(120); // the timer of 100 ms has fired
  time = 100.5;
  await third;
  const entered: string[] = [];
  for (const name of ['beside one', 'beside two']) void enter(limit, entered, name);
  await Promise.resolve();
  await Promise.resolve();
  expect(entered).toEqual(['beside one']);
});

test('who comes aside neither waits for a place nor takes one', async () => {
  const limit = new PatientLimit(10, 2);
  await limit.enter(true);
  await limit.enter(true);
  const entered: string[] = [];
  for (const name of ['a', 'b', 'c']) void enter(limit, entered, name);
  await limit.enter(true);
  await Promise.resolve();
  expect(entered).toEqual(['a', 'b']);
});

test('where callers come and go and one waits long all the same, a place is added and stays', async () => {
  const limit = new PatientLimit(3, 2);
  const stay = async (): Promise<void> => {
    const leave = await limit.enter();
    await sleep(20);
    leave();
  };
  await Promise.all(Array.from({ length: 70 }, stay));
  const entered: string[] = [];
  for (const name of ['a', 'b', 'c']) void enter(limit, entered, name);
  await Promise.resolve();
  await Promise.resolve();
  expect(entered).toEqual(['a', 'b', 'c']);
});

test('with all places in use nobody waits here: the pool has a queue of its own', async () => {
  const limit = new PatientLimit(1, 1);
  await limit.enter();
  await limit.enter();
});

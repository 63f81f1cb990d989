import { expect, test } from 'vitest';
import { BrokenOff, elapsedMs, nextTurn, sleep } from '../platform/clock.ts';
import { BackgroundWrites } from './background-writes.ts';

/** A process whose jobs a test makes busy, and how often it was looked at. */
function makeLoad() {
  const state = { isWaiting: false, isCalling: false, looks: 0 };
  const load = {
    isWaiting: () => state.isWaiting,
    quietForMs: () => {
      state.looks++;
      return state.isCalling ? 0 : Number.POSITIVE_INFINITY;
    },
  };
  return { state, load };
}

test('a write waits until every job waits for a model and no call comes or goes', async () => {
  const { state, load } = makeLoad();
  const writes = new BackgroundWrites<string>(load);
  writes.start(async () => ['written']);
  await sleep(20);
  expect(writes.take()).toEqual([]);

  state.isCalling = true;
  state.isWaiting = true;
  const before = state.looks;
  await expect.poll(() => state.looks).toBeGreaterThan(before + 4);
  expect(writes.take()).toEqual([]);

  state.isCalling = false;
  await expect.poll(() => writes.take()).toEqual(['written']);
});

test('jobs that never rest put a write off for a while, not for ever', async () => {
  const { load } = makeLoad();
  const writes = new BackgroundWrites<string>(load, 0);
  writes.start(async () => ['written']);
  await expect.poll(() => writes.take()).toEqual(['written']);
});

test('a write gives way to jobs between its steps, for a while at most', async () => {
  const { state, load } = makeLoad();
  state.isWaiting = true;
  const writes = new BackgroundWrites<string>(load);
  const times: number[] = [];
  writes.start(async (slices) => {
    for (const isLeftAlone of [true, false, false]) {
      times.push(elapsedMs());
      while (elapsedMs() - times.at(-1)! < 5);
      state.isWaiting = isLeftAlone;
      await slices.rest();
    }
    return [slices.restedMs > 100 ? 'gave way' : 'went on'];
  });
  await expect.poll(() => writes.take()).toEqual(['gave way']);
  const [first = 0, second = 0, third = 0] = times;
  expect(third - second).toBeGreaterThan(90);
  expect(third - second).toBeGreaterThan(second - first);
});

test('one write is under way at a time, and what it throws is thrown once', async () => {
  const { load } = makeLoad();
  const writes = new BackgroundWrites<string>(load, 0);
  let count = 0;
  const write = async () => {
    count++;
    throw new Error('no room');
  };
  writes.start(write);
  writes.start(write);
  await expect.poll(() => writes.hasNews).toBe(true);
  expect(() => writes.take()).toThrow('no room');
  expect(writes.take()).toEqual([]);
  expect(count).toBe(1);
});

test('the end waits for a write that is under way, and drops one that has not begun', async () => {
  const { state, load } = makeLoad();
  state.isWaiting = true;
  const writes = new BackgroundWrites<string>(load);
  const begun = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  writes.start(async () => {
    begun.resolve();
    await finish.promise;
    return ['written'];
  });
  await begun.promise;
  const ended = writes.end();
  finish.resolve();
  await ended;
  expect(writes.take()).toEqual(['written']);

  writes.start(async () => ['too late']);
  await writes.end();
  expect(writes.take()).toEqual([]);
});

test('the end breaks a write that is repeated off between two of its steps', async () => {
  const { state, load } = makeLoad();
  state.isWaiting = true;
  const writes = new BackgroundWrites<string>(load);
  let steps = 0;
  writes.start(async (slices) => {
    try {
      for (;;) {
        steps++;
        await slices.rest();
        await nextTurn();
      }
    } catch (thrown) {
      if (!(thrown instanceof BrokenOff)) throw thrown;
      return ['broken off'];
    }
  });
  await expect.poll(() => steps).toBeGreaterThan(2);
  await writes.end({ isRepeated: true });
  expect(writes.take()).toEqual(['broken off']);
});

import { expect, test } from 'vitest';
import { readModelsConfig } from '../models/config.ts';
import type { ModelRequest } from '../models/types.ts';
import { beats } from './choose-draft.ts';
import { measureReading } from './reading.ts';
import { SpendingTally } from './spending.ts';

const best = measureReading([{ name: 'a.md', text: 'The best so far.' }]);
const challenger = measureReading([{ name: 'a.md', text: 'The challenger.' }]);
const raw = { finishReason: null, responseId: null, usage: null, warnings: [] };
const usage = {
  inputTokens: 10,
  outputTokens: 5,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  estimated: false,
};

/** A judge whose three roles choose by whether the challenger is shown first. */
async function choose(roles: (isFirst: boolean) => readonly ('X' | 'Y')[]) {
  const provider = {
    async generate({ messages }: ModelRequest) {
      const material = messages[0]!.content;
      const isFirst = material.indexOf('challenger') < material.indexOf('best so far');
      const [people, developer, reviewer] = roles(isFirst);
      const text = JSON.stringify({ people, developer, reviewer, reason: 'It is better.' });
      return { text, finishReason: 'stop' as const, usage, raw };
    },
  };
  const tally = new SpendingTally();
  const texts = { brief: 'Bread.', best, challenger };
  const wins = await beats({ provider, config: readModelsConfig({}) }, 'a/b', texts, tally);
  return [wins, tally.sum().calls];
}

test('a challenger that two of three roles prefer in both orders wins', async () => {
  expect(await choose((isFirst) => (isFirst ? ['X', 'X', 'Y'] : ['Y', 'Y', 'X']))).toEqual([
    true,
    2,
  ]);
});

test('one that wins by its place, by one role, or by other roles in each order does not', async () => {
  expect(await choose(() => ['X', 'X', 'X'])).toEqual([false, 2]);
  expect(await choose(() => ['Y', 'Y', 'Y'])).toEqual([false, 2]);
  expect(await choose((isFirst) => (isFirst ? ['X', 'Y', 'Y'] : ['Y', 'X', 'X']))).toEqual([
    false,
    2,
  ]);
  expect(await choose((isFirst) => (isFirst ? ['X', 'X', 'Y'] : ['X', 'Y', 'Y']))).toEqual([
    false,
    2,
  ]);
});

import { expect, test } from 'vitest';
import { readModelsConfig } from '../../src/models/config.ts';
import { CANARY, findFragments } from './canaries.ts';
import { credentials, failWithoutTrace } from './failing-calls.ts';

test('100 failing calls leave no trace of a key in store, log, export and terminal', async () => {
  await failWithoutTrace(100);
});

test('what the start refuses is told without the value', () => {
  const told = credentials('http://127.0.0.1:9').flatMap(({ apiKey, baseUrl }) =>
    [`${apiKey}`, `${apiKey}\n2`].map((key) => {
      try {
        readModelsConfig(
          { LAB_KEY: key },
          { providers: { lab: { baseUrl, apiKeyEnv: 'LAB_KEY' } } },
        );
        return '';
      } catch (error) {
        return JSON.stringify(error) + String((error as Error).stack);
      }
    }),
  );
  expect(told.filter(Boolean).length).toBeGreaterThan(12);
  expect(findFragments(told.join('\n'))).toEqual([]);
});

test('a fragment is found in whatever writing it comes', () => {
  for (const text of [CANARY.slice(8, 20), JSON.stringify({ a: JSON.stringify(CANARY) })]) {
    expect(findFragments(`x${text}x`).length).toBeGreaterThan(0);
  }
  expect(findFragments('[key]')).toEqual([]);
});

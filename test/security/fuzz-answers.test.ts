import { expect, test } from 'vitest';
import { newTenant, openTestStore } from '../stores.ts';
import { expectNamedEnds } from './expect-named-ends.ts';
import { fuzzAnswers } from './fuzz-answers.ts';

test('150 fuzzed answers are saved, repaired or refused by name, and the books balance', async () => {
  const database = await openTestStore('server');
  const { tenantId } = await newTenant(database);
  const outcome = await fuzzAnswers({ database, tenantId }, { answers: 150, seed: 12 });
  expect(outcome.given).toBeGreaterThanOrEqual(150);
  expectNamedEnds(outcome);
});

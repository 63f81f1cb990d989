import { expect, test } from 'vitest';
import { newTenant, openTestStore } from '../stores.ts';
import { expectNamedEnds } from './expect-named-ends.ts';
import { fuzzAnswers } from './fuzz-answers.ts';

test('10,000 fuzzed answers are saved, repaired or refused by name, and the books balance', async () => {
  const database = await openTestStore('server');
  const { tenantId } = await newTenant(database);
  const outcome = await fuzzAnswers({ database, tenantId }, { answers: 10_000, seed: 2_026 });
  console.log(JSON.stringify(outcome));
  expect(outcome.given).toBeGreaterThanOrEqual(10_000);
  expectNamedEnds(outcome);
});

import { expect, test } from 'vitest';
import { newTenant, openTestStore } from '../stores.ts';
import { recordOffline, runPartly } from './partly.ts';
import { shipped } from './trivial.ts';

const LABEL = /<document label="([^"]*)"/g;

test('a pair is told which of the proposals and reviews it holds', async () => {
  const database = await openTestStore('embedded');
  const { tenantId } = await newTenant(database);
  const { provider, asked } = recordOffline();
  await runPartly(
    { database, tenantId },
    {
      process: shipped('software-plan'),
      models: ['offline/builder', 'offline/skeptic'],
      provider,
      writes: ({ documentKey }) => documentKey === 'synthesis_pairwise_business_case',
    },
  );
  const pairs = asked.map(({ messages }) =>
    messages
      .flatMap(({ content }) => [...content.matchAll(LABEL)].map(([, label]) => label!))
      .filter((label) => /^Business case/i.test(label))
      .toSorted(),
  );
  // Two lanes merge two proposals with two reviews each; the letters are those of the plan.
  expect(pairs.length).toBe(8);
  for (const labels of pairs) {
    expect(labels.length).toBe(2);
    for (const label of labels) expect(label).toMatch(/ [A-D]$/);
  }
  expect(new Set(pairs.flat().filter((label) => /case [AB]$/i.test(label))).size).toBe(2);
});

import { expect, test } from 'vitest';
import { newTenant, openTestStore } from '../stores.ts';
import { recordOffline, runPartly } from './partly.ts';
import { shipped } from './trivial.ts';

const LABEL = /<document label="([^"]*)"/g;

test('a pair is told which of the proposals and reviews it holds', async () => {
  const database = await openTestStore('server');
  const { tenantId } = await newTenant(database);
  const { provider, asked } = recordOffline();
  await runPartly(
    { database, tenantId },
    {
      process: shipped('software-plan'),
      models: ['offline/builder', 'offline/skeptic'],
      provider,
      writes: ({ documentKey }) =>
        documentKey === 'synthesis_pairwise_business_case' ||
        documentKey === 'header_context_pairwise',
    },
  );
  const labels = asked.map(({ messages }) =>
    messages.flatMap(({ content }) => [...content.matchAll(LABEL)].map(([, label]) => label!)),
  );
  // Whoever plans the merging sees four reviews, and on which of the two proposals each is.
  const [plan] = labels.filter((one) => one.includes('Business Case B'));
  expect(plan!.filter((label) => label.startsWith('Business Case Critique'))).toEqual([
    expect.stringMatching(/ A, on proposal [AB]$/),
    expect.stringMatching(/ B, on proposal [AB]$/),
    expect.stringMatching(/ C, on proposal [AB]$/),
    expect.stringMatching(/ D, on proposal [AB]$/),
  ]);
  const pairs = labels
    .filter((one) => one.length < 8)
    .map((one) => one.filter((label) => /^Business case/i.test(label)).toSorted());
  // Two lanes merge two proposals with two reviews each; the letters are those of the plan.
  expect(pairs.length).toBe(8);
  for (const own of pairs) {
    expect(own.length).toBe(2);
    for (const label of own) expect(label).toMatch(/ [A-D](, on proposal [AB])?$/);
  }
  expect(new Set(pairs.flat().filter((label) => /case [AB]$/i.test(label))).size).toBe(2);
});

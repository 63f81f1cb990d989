import { describe, expect, test } from 'vitest';
import type { Amounts, Estimate } from '../estimate/types.ts';
import { compareEstimate, describeEstimate, summariseEstimate } from './estimate-text.ts';

const nothing = { low: 0, middle: 0, high: 0 };
const amounts: Amounts = {
  calls: { low: 10, middle: 10, high: 12 },
  inputTokens: { low: 40_000, middle: 50_600, high: 94_500 },
  outputTokens: { low: 7_950, middle: 13_252, high: 1_250_000 },
  costUsd: { low: 0.012, middle: 1.234, high: 12 },
};
const none = { calls: nothing, inputTokens: nothing, outputTokens: nothing };
const estimate: Estimate = {
  ...amounts,
  process: 'decision-memo',
  documents: 10,
  stages: [{ stage: 'decide', name: 'End', ...amounts }],
  models: [
    { model: 'x/a', ...amounts },
    { model: 'x/b', ...amounts, costUsd: null },
  ],
  parts: [
    { stage: 'decide', model: 'x/a', ...amounts },
    { stage: 'decide', model: 'x/b', ...amounts, costUsd: null },
  ],
  additions: {
    continuation: { ...amounts, calls: { low: 0, middle: 3, high: 8 } },
    repetition: none,
    compression: {
      calls: { low: 0, middle: 1, high: 2 },
      removedTokens: amounts.inputTokens,
      documents: [
        {
          stage: 'decide',
          document: 'decision',
          model: 'x/a',
          calls: 1,
          tokens: 12_400,
          room: 6_000,
        },
      ],
      embedding: {
        model: 'x/embed',
        tokens: { low: 0, middle: 12_000, high: 48_000 },
        costUsd: { low: 0, middle: 0.012, high: 0.048 },
      },
    },
  },
  searches: {
    service: 'tavily',
    count: { low: 0, middle: 6, high: 60 },
    costUsd: { low: 0, middle: 0.048, high: 0.48 },
  },
  unpriced: [],
  learnedDocuments: 0,
};

describe('an estimate in words', () => {
  test('is one line before a run starts', () => {
    expect(summariseEstimate(estimate)).toBe(
      'Estimate: 10 calls, 50.6K tokens in, 13.3K out, $1.23 ($0.012 at least, $12.00 at most)',
    );
  });

  test('is told again at the end of the run', () => {
    expect(compareEstimate(estimate)).toBe(
      'The estimate was 10 calls, 63.9K tokens, $1.23 ($0.012 at least, $12.00 at most).',
    );
  });

  test('says that the price is unknown, and of which model', () => {
    const line = summariseEstimate({ ...estimate, costUsd: null, unpriced: ['x/b'] });
    expect(line).toBe(
      'Estimate: 10 calls, 50.6K tokens in, 13.3K out, price unknown for x/b ' +
        '(--budget-tokens caps what it uses)',
    );
  });

  test('says that local models cost nothing', () => {
    expect(summariseEstimate({ ...estimate, costUsd: nothing })).toContain('no cost');
  });

  test('is a table of stages and models, with what may come on top', () => {
    expect(describeEstimate(estimate)).toMatchInlineSnapshot(`
      [
        "                           calls       tokens in          tokens out           cost",
        "End                        10 (10–12)  50.6K (40K–94.5K)  13.3K (7.95K–1.25M)  $1.23 ($0.012–$12.00)",
        "  x/a                      10 (10–12)  50.6K (40K–94.5K)  13.3K (7.95K–1.25M)  $1.23 ($0.012–$12.00)",
        "  x/b                      10 (10–12)  50.6K (40K–94.5K)  13.3K (7.95K–1.25M)  unknown",
        "x/a                        10 (10–12)  50.6K (40K–94.5K)  13.3K (7.95K–1.25M)  $1.23 ($0.012–$12.00)",
        "x/b                        10 (10–12)  50.6K (40K–94.5K)  13.3K (7.95K–1.25M)  unknown",
        "x/embed, embedding                     12K (0–48K)                             $0.012 ($0.00–$0.048)",
        "tavily, 6 (0–60) searches                                                      $0.048 ($0.00–$0.48)",
        "all                        10 (10–12)  50.6K (40K–94.5K)  13.3K (7.95K–1.25M)  $1.23 ($0.012–$12.00)",
        "",
        "Each figure is the most likely one, with the lowest to expect and the most that it can come to:",
        "every document asked for again as often as the rules of the debate allow.",
        "Among them:",
        "  to go on with answers that were cut: 3 calls are likely, 8 with 1.34M tokens at most",
        "  prompts too long for the window: 1 (0–2), which have to lose 50.6K (40K–94.5K) tokens",
        "    decide/decision for x/a: 12.4K tokens where 6K fit",
        "    to compare their parts x/embed embeds them once",
        "Sizes are typical ones; finished runs will replace them by measured ones.",
      ]
    `);
  });
});

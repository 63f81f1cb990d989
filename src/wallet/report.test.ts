import { describe, expect, test } from 'vitest';
import { type CallCostRow, summariseCosts } from './report.ts';

const price = {
  source: 'configuration' as const,
  rates: { input: 2, cachedInput: 0.5, cacheWrite: 2, output: 8 },
  steps: [],
};

/** A call of a hundred tokens in, forty of them from the cache, and ten out: 220 micro-dollars. */
const call = (more: Partial<CallCostRow> = {}): CallCostRow => ({
  id: 'c',
  model: 'x/a',
  purpose: 'document',
  status: 'received',
  stage: 'draft',
  step: 'write',
  document: 'memo',
  lane: 1,
  forSources: false,
  identity: 'memo/1',
  posting: 1,
  estimated: false,
  responseId: null,
  usage: {
    inputTokens: 100,
    outputTokens: 10,
    cachedInputTokens: 40,
    cacheWriteTokens: 0,
    estimated: false,
  },
  price,
  usdMicros: 220,
  tokens: 110,
  ...more,
});

describe('a cost report', () => {
  test('adds up by stage, model and document, and says what went to corrections', () => {
    const report = summariseCosts([
      call(),
      call({ purpose: 'continuation', usdMicros: 100, tokens: 50 }),
      call({ purpose: 'repair', model: 'x/b', identity: 'memo/2', lane: 2 }),
      call({ status: 'failed', posting: null, usage: null, price: null, usdMicros: 0, tokens: 0 }),
    ]);
    expect(report).toMatchObject({
      currency: 'USD',
      total: 0.00054,
      totalMicros: 540,
      tokens: 270,
    });
    expect(report.byStage).toEqual([{ stage: 'draft', calls: 4, usd: 0.00054, tokens: 270 }]);
    expect(report.byModel.map(({ model, usd }) => [model, usd])).toEqual([
      ['x/a', 0.00032],
      ['x/b', 0.00022],
    ]);
    expect(report.byDocument.map(({ lane, calls }) => [lane, calls])).toEqual([
      [1, 3],
      [2, 1],
    ]);
    expect(report.continuation).toEqual({ calls: 1, usd: 0.0001, tokens: 50 });
    expect(report.retries).toEqual({ calls: 1, usd: 0.00022, tokens: 110, unanswered: 1 });
    expect(report.unknownPrices).toEqual([]);
  });

  test('says what the cache saved, by the price of the time', () => {
    expect(summariseCosts([call()]).cachedInputSaved).toBe(0.00006);
  });

  test('names the models whose price nobody knows, and counts their tokens', () => {
    const report = summariseCosts([call({ price: null, usdMicros: 0 })]);
    expect(report).toMatchObject({ unknownPrices: ['x/a'], total: 0, tokens: 110 });
  });
});

import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { newTenant, openTestStore } from '../../test/stores.ts';
import { watchTexts } from '../../test/watch-texts.ts';
import { loadTokenCounter } from '../models/tokens.ts';
import { createMeasure, loadMeasure } from './measure-request.ts';

const counter = await loadTokenCounter();
const text = 'The plan names three risks; each has an owner, a date and a measure.\n'.repeat(40);
const request = (model: string) => ({
  model,
  system: 'You plan.',
  messages: [{ role: 'user' as const, content: text }],
  schema: { name: 'a__b', schema: { type: 'object', properties: { plan: { type: 'string' } } } },
});

test('the tokenizer is exact for OpenAI, framing and schema included', () => {
  const measure = createMeasure(counter, 'openai/gpt-5', []);
  expect(measure).toMatchObject({ method: 'exact', factor: 1, errorShare: 0.01 });
  const schema = counter.countPlain(JSON.stringify(request('openai/gpt-5').schema.schema));
  const texts = counter.countPlain('You plan.') + counter.countPlain(text);
  expect(measure.countRequest(request('openai/gpt-5'))).toBe(texts + schema + 2 * 4);
  expect(createMeasure(counter, 'openai/gpt-4-turbo', []).method).toBe('estimated');
});

test('the count of others is on the safe side and says by how much', () => {
  const measure = createMeasure(counter, 'anthropic/claude-x', [1.1, 1.2]);
  expect(measure).toMatchObject({ method: 'estimated', factor: 1.35, calls: 0 });
  expect(measure.errorShare).toBeCloseTo(0.35);
  expect(measure.count(text)).toBe(Math.ceil(counter.countPlain(text) * 1.35));
});

test('after three calls the usage that the provider reported is used', () => {
  const measure = createMeasure(counter, 'anthropic/claude-x', [1.08, 1.1, 1.09]);
  // The highest ratio with its margin of 2 %, in steps of 5 %.
  expect(measure).toMatchObject({ method: 'learned', factor: 1.15, calls: 3 });
  expect(measure.errorShare).toBeCloseTo(1.15 / 1.08 - 1);
});

test('a prompt like those before is never counted too low, and within the stated error', () => {
  const ratio = fc.double({ min: 0.5, max: 3, noNaN: true });
  const shares = fc.array(fc.double({ min: 0.97, max: 1.03, noNaN: true }), {
    minLength: 6,
    maxLength: 51,
  });
  fc.assert(
    fc.property(ratio, shares, (mean, [next = 1, ...seen]) => {
      const ratios = seen.map((share) => share * mean);
      const { factor, errorShare } = createMeasure(counter, 'x/y', ratios);
      // What the margin covers: a ratio up to 2 % above the highest that was seen.
      const reported = Math.min(next * mean, Math.max(...ratios) * 1.02);
      expect(factor).toBeGreaterThanOrEqual(reported);
      expect(factor / Math.min(...ratios) - 1).toBeLessThanOrEqual(errorShare + 1e-9);
    }),
  );
});

test('the calls of a model are asked for what they teach once in some seconds', async () => {
  const database = await openTestStore('embedded');
  const { tenantId } = await newTenant(database);
  const sent = await watchTexts(database);
  const measures = await Promise.all([
    loadMeasure(database, tenantId, 'loop/a'),
    loadMeasure(database, tenantId, 'loop/a'),
    loadMeasure(database, tenantId, 'loop/b'),
  ]);
  expect(measures.map(({ method }) => method)).toEqual(['estimated', 'estimated', 'estimated']);
  const countIn = (texts: readonly string[]): number =>
    texts.flatMap((text) => text.match(/execute "batch_read-ratios/g) ?? []).length;
  expect(countIn(sent())).toBe(2);
  const sentLater = await watchTexts(database);
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 5_001);
  await loadMeasure(database, tenantId, 'loop/a');
  await loadMeasure(database, tenantId, 'loop/a');
  clock.mockRestore();
  // Another read of the tenant goes behind what is under way.
  await database.readsOf(tenantId).query('select 1 as one');
  expect(countIn(sentLater())).toBe(1);
});

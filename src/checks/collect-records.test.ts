import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ContractNode } from '../recipe/types.ts';
import { collectRecords } from './collect-records.ts';
import { gatherPlan } from './gather-plan.ts';
import { RECORD_READERS } from './read-records.ts';

const list = (kind: ContractNode['x-records'], properties = {}): ContractNode => ({
  type: 'array',
  ...(kind === undefined ? {} : { 'x-records': kind }),
  items: { type: 'object', properties },
});
const contract: ContractNode = {
  type: 'object',
  properties: {
    phases: list(undefined, { items: list('work_items', { costs: list('costs') }) }),
    demands: list('demands'),
    figures: list('figures'),
    rest: { type: 'string' },
  },
};

test('finds the records by the annotation, at any depth and in the order of the document', () => {
  const content = {
    phases: [
      { items: [{ id: 'W1', costs: [{ item: 'printer' }] }, { id: 'W2' }] },
      { items: [{ id: 'W3' }, 'prose'] },
      { other: 1 },
    ],
    demands: { id: 'D1' },
    rest: 'work_items',
  };
  const ids = (kind: 'work_items' | 'demands'): unknown[] =>
    collectRecords(contract, content, kind).map(({ id }) => id);
  expect(ids('work_items')).toEqual(['W1', 'W2', 'W3']);
  expect(ids('demands')).toEqual(['D1']);
  expect(collectRecords(contract, content, 'costs')).toEqual([{ item: 'printer' }]);
  expect(collectRecords(contract, content, 'people')).toEqual([]);
});

test('gathers the records of several documents and keeps figures with their document', () => {
  const one = { title: 'One', contract, content: { figures: [{ name: 'Budget', value: 15_000 }] } };
  const two = {
    title: 'Two',
    contract,
    content: { demands: [{ id: 'D1' }], figures: [] },
    text: 'See D1.',
  };
  const plan = gatherPlan([one, two]);
  expect(plan.demands.map(({ id }) => id)).toEqual(['D1']);
  expect(plan.documents).toMatchObject([
    { title: 'One', figures: [{ name: 'Budget', value: '15000', unit: '' }] },
    { title: 'Two', figures: [], text: 'See D1.' },
  ]);
});

test('reads any record of any kind without an exception', () => {
  const names = `id amount unit owner effort_low effort_high needs finding weight decision per
    hours_per_week earliest_week cost period months value who`.split(/\s+/);
  const raw = fc.dictionary(fc.constantFrom(...names), fc.jsonValue());
  fc.assert(
    fc.property(raw, (record) => {
      for (const read of Object.values(RECORD_READERS)) expect(read(record)).toBeTypeOf('object');
    }),
  );
});

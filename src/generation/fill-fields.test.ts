import { expect, test } from 'vitest';
import type { ContractNode } from '../recipe/types.ts';
import { fillFields, stripFields } from './fill-fields.ts';

const contract: ContractNode = {
  type: 'object',
  properties: {
    summary: { type: 'string' },
    proposal: {
      type: 'object',
      properties: {
        lineage_key: { type: 'string', 'x-fill': 'lineage' },
        model: { type: 'string', 'x-fill': 'source_model' },
      },
    },
    parts: {
      type: 'array',
      items: {
        type: 'object',
        properties: { text: { type: 'string' }, pass: { type: 'integer', 'x-fill': 'iteration' } },
      },
    },
  },
};
const values = {
  lineage: 'L1',
  source_model: 'openai/x',
  own_model: 'openai/x',
  iteration: 2,
  document_key: 'review',
};
const written = { summary: 'Good.', parts: [{ text: 'One' }, { text: 'Two' }], extra: { a: [1] } };

test('code writes its fields, also where the model left them out', () => {
  expect(fillFields(contract, written, values)).toEqual({
    ...written,
    proposal: { lineage_key: 'L1', model: 'openai/x' },
    parts: [
      { text: 'One', pass: 2 },
      { text: 'Two', pass: 2 },
    ],
  });
});

test('what a model put into such a field is overwritten', () => {
  const claimed = { ...written, proposal: { lineage_key: 'mine', model: 'me', remark: 'kept' } };
  expect(fillFields(contract, claimed, values)).toMatchObject({
    proposal: { lineage_key: 'L1', model: 'openai/x', remark: 'kept' },
  });
});

test('stripping gives back what the model wrote, without a name of its author', () => {
  const filled = fillFields(contract, written, values);
  expect(stripFields(contract, filled)).toEqual(written);
  expect(JSON.stringify(stripFields(contract, filled))).not.toContain('openai');
});

test('values that are not of the contract pass through both ways', () => {
  for (const value of ['text', 5, null, ['list']]) {
    expect(fillFields(contract, value, values)).toBe(value);
    expect(stripFields(contract, value)).toBe(value);
  }
});

import { expect, test } from 'vitest';
import { dropTold } from './drop-told.ts';

test('a schema leaves out what the prompt says in the same words, and nothing else', () => {
  const schema = {
    type: 'object',
    description: 'A plan.',
    required: ['risks'],
    properties: {
      risks: {
        type: 'array',
        description: 'What can go wrong.',
        items: { type: 'object', properties: { sign: { type: 'string', description: 'Early.' } } },
      },
      description: { type: 'string', description: 'In words.' },
    },
  };
  expect(dropTold(schema, '- `risks`: What can go wrong.\n- `description`: In words.')).toEqual({
    type: 'object',
    description: 'A plan.',
    required: ['risks'],
    properties: {
      risks: {
        type: 'array',
        items: { type: 'object', properties: { sign: { type: 'string', description: 'Early.' } } },
      },
      description: { type: 'string' },
    },
  });
  expect(dropTold(schema, '')).toEqual(schema);
});

import { describe, expect, test } from 'vitest';
import { mergeOver } from './merge-over.ts';

const plan = {
  summary: 'First.',
  phases: [
    {
      name: 'Build',
      milestones: [
        { id: 'M1', status: '[ ]', goal: 'a' },
        { id: 'M2', status: '[ ]' },
      ],
    },
    { name: 'Try', milestones: [{ id: 'M3', status: '[ ]' }] },
  ],
  notes: ['one', 'two'],
};

describe('a document laid over the one that it extends', () => {
  test('keeps what the change does not mention', () => {
    expect(mergeOver(plan, {})).toEqual(plan);
    expect(mergeOver(plan, plan)).toEqual(plan);
  });

  test('changes records by id at any depth, in their old order', () => {
    const change = { phases: [{ name: 'Build', milestones: [{ id: 'm1', status: '[🚧]' }] }] };
    expect(mergeOver(plan, change)).toEqual({
      ...plan,
      phases: [
        {
          name: 'Build',
          milestones: [
            { id: 'm1', status: '[🚧]', goal: 'a' },
            { id: 'M2', status: '[ ]' },
          ],
        },
        plan.phases[1],
      ],
    });
  });

  test('adds new records at the end and replaces lists without ids', () => {
    const change = { phases: [{ name: 'Run', milestones: [{ id: 'M4' }] }], notes: ['three'] };
    const merged = mergeOver(plan, change);
    expect((merged['phases'] as { name: string }[]).map(({ name }) => name)).toEqual([
      'Build',
      'Try',
      'Run',
    ]);
    expect(merged['notes']).toEqual(['three']);
  });
});

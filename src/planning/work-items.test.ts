import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WorkItems } from '../recipe/types.ts';
import { readWorkItems } from './work-items.ts';

const flat: WorkItems = {
  stage: 's',
  documentKey: 'plan',
  items: 'milestones',
  id: 'id',
  title: 'title',
};
const nested: WorkItems = { ...flat, items: 'phases.milestones' };
const short = (workItems: WorkItems, content: unknown): string[] =>
  readWorkItems(workItems, content).map(({ id, title }) => `${id} ${title}`);

describe('readWorkItems', () => {
  test('takes the items of a list with all that they hold', () => {
    const item = { id: 'M1', title: ' Log in ', deps: ['M0'] };
    expect(readWorkItems(flat, { milestones: [item] })).toEqual([
      { id: 'M1', title: 'Log in', item },
    ]);
  });

  test('goes through the lists on the way, in order', () => {
    const content = {
      phases: [
        { milestones: [{ id: 'M1', title: 'a' }] },
        { milestones: [] },
        {
          milestones: [
            { id: 'M2', title: 'b' },
            { id: 'M3', title: 'c' },
          ],
        },
      ],
    };
    expect(short(nested, content)).toEqual(['M1 a', 'M2 b', 'M3 c']);
  });

  test('numbers what has no id and tells apart what shares one', () => {
    const milestones = [{ id: 'M', title: 'a' }, { title: 'b' }, { id: 'M' }, { id: 7 }];
    expect(short(flat, { milestones })).toEqual(['M a', '2 b', 'M-2 M-2', '7 7']);
  });

  test('what is not there, or is no record, gives nothing', () => {
    const odd = [
      null,
      'x',
      {},
      { phases: 'x' },
      { phases: [1, null, { milestones: ['x', null] }] },
    ];
    for (const content of odd) expect(readWorkItems(nested, content)).toEqual([]);
    expect(readWorkItems({ ...flat, items: 'constructor.name' }, {})).toEqual([]);
  });

  test('every record of any nesting gets an id of its own', () => {
    const item = fc.record({ id: fc.constantFrom('a', 'a-2', '1', '', null), title: fc.string() });
    const phases = fc.array(fc.record({ milestones: fc.array(item) }));
    fc.assert(
      fc.property(phases, (given) => {
        const all = given.flatMap((phase) => phase.milestones);
        const read = readWorkItems(nested, { phases: given });
        expect(read.map((one) => one.item)).toEqual(all);
        expect(new Set(read.map((one) => one.id)).size).toBe(all.length);
      }),
    );
  });
});

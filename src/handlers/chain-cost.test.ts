import { expect, test } from 'vitest';
import { addCallCost, describeCost, NO_CALLS } from './chain-cost.ts';

const recorded = (costMicros: number | null) => ({ kind: 'recording', costMicros }) as const;

test('a chain costs what its calls cost, as far as it is known', () => {
  const one = addCallCost(NO_CALLS, { cost: 1_200, origin: { kind: 'model' } });
  const two = addCallCost(one, { cost: 300, origin: { kind: 'model' } });
  expect(describeCost(two)).toBe('$0.0015');
  const unknown = addCallCost(NO_CALLS, { cost: null, origin: { kind: 'model' } });
  expect(describeCost(unknown)).toBe('unknown');
});

test('of a replayed chain the recorded cost is told, unless one call does not know its own', () => {
  const one = addCallCost(NO_CALLS, { cost: 0, origin: recorded(500) });
  const two = addCallCost(one, { cost: 0, origin: recorded(700) });
  expect(describeCost(two)).toBe('$0.0012 in the recorded run, nothing in this one');
  const lost = addCallCost(one, { cost: 0, origin: recorded(null) });
  const after = addCallCost(lost, { cost: 0, origin: recorded(700) });
  expect(describeCost(after)).toBe('unknown in the recorded run, nothing in this one');
});

import { expect, test } from 'vitest';
import { runWithFault } from './fault-run.ts';
import { FAULT_CLASSES } from './faults.ts';

test('there are twelve classes of faults', () => {
  expect(FAULT_CLASSES).toHaveLength(12);
});

test.each(FAULT_CLASSES)('"%s" is found in whatever stage it comes in', (fault) => {
  for (let seed = 1; seed <= 2; seed++) runWithFault(seed, fault);
});

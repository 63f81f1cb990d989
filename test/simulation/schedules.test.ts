import { test } from 'vitest';
import { compareSchedules } from './schedules.ts';

test('40 shuffled schedules of a three-lane session give the same jobs and inputs', () => {
  compareSchedules(40);
}, 60_000);

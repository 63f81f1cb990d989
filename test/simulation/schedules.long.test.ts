import { test } from 'vitest';
import { compareSchedules } from './schedules.ts';

test('1,000 shuffled schedules of a three-lane session give the same jobs and inputs', () => {
  compareSchedules(1000);
}, 600_000);

import { expect, test } from 'vitest';
import { now } from '../platform/clock.ts';
import { localDay } from '../text/day.ts';
import { prepareRun } from './run-options.ts';

const wanted = { brief: 'Open on Sundays?', models: ['offline/planner'] };

test('a run has the date that it is told, else that of its start', async () => {
  expect((await prepareRun({ ...wanted, date: '2027-01-04' })).date).toBe('2027-01-04');
  const before = localDay(now());
  const { date } = await prepareRun(wanted);
  expect([before, localDay(now())]).toContain(date);
});

test.each(['2027-02-30', '4 January', ''])('a date of %j is refused', async (date) => {
  await expect(prepareRun({ ...wanted, date })).rejects.toMatchObject({ code: 'usage_invalid' });
});

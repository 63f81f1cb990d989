import { expect, test } from 'vitest';
import { MOST_PARTICIPANTS } from '../models/participants.ts';
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

test('a run may have fifty participants, and one of more is refused by name', async () => {
  const most = Array.from({ length: MOST_PARTICIPANTS }, () => 'offline/planner');
  expect((await prepareRun({ ...wanted, models: most })).models).toHaveLength(50);
  await expect(
    prepareRun({ ...wanted, models: [...most, 'offline/skeptic'] }),
  ).rejects.toMatchObject({
    code: 'usage_invalid',
    message: 'A run has at most 50 participants, and 51 are named. Leave some out.',
  });
});

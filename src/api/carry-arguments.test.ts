import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test/stores.ts';
import { carryArguments } from './carry-arguments.ts';

const { signal } = new AbortController();
const { signal: cutOff } = new AbortController();
const here = process.cwd();

test('paths are those of the caller, and the signal stays behind', async () => {
  expect(
    await carryArguments('work', ['id', { out: 'plan', trace: 'run.json', signal, cutOff }]),
  ).toEqual({
    args: ['id', { out: join(here, 'plan'), trace: join(here, 'run.json') }],
    signals: { signal, cutOff },
  });
  expect(await carryArguments('export', ['id', 'plan'])).toMatchObject({
    args: ['id', join(here, 'plan')],
  });
  const replay = { recorded: 'plan', recipe: './recipes/decision-memo', fill: 'offline' };
  expect((await carryArguments('startReplay', [replay])).args).toEqual([
    { recorded: join(here, 'plan'), recipe: join(here, 'recipes/decision-memo'), fill: 'offline' },
  ]);
  const resumed = await carryArguments('resume', ['id', { out: '/plan', now: true }]);
  expect(resumed.args).toEqual(['id', { out: '/plan', now: true }]);
});

test('a recipe folder is found in the folder of the caller, a shipped one by its name', async () => {
  const run = { brief: 'Sundays?', models: [] };
  const shipped = await carryArguments('start', [{ ...run, process: 'decision-memo' }]);
  expect(shipped.args).toEqual([{ ...run, process: 'decision-memo' }]);
  const own = await carryArguments('start', [{ ...run, process: './recipes/decision-memo' }]);
  expect(own.args).toEqual([{ ...run, process: join(here, 'recipes/decision-memo') }]);
  const nowhere = { ...run, process: join(await temporaryFolder(), 'none') };
  const unknown = expect.objectContaining({ code: 'recipe_unknown' });
  await expect(carryArguments('start', [nowhere])).rejects.toEqual(unknown);
});

test('what is left out stays left out', async () => {
  expect((await carryArguments('find', [undefined])).args).toEqual([]);
  expect((await carryArguments('export', ['id', undefined])).args).toEqual(['id']);
});

test('the folders of each brief of an evaluation are found in the folder of the caller', async () => {
  const brief = { name: 'bread', text: 'Bread.' };
  const briefs = [{ ...brief, debate: 'plan', given: '/other' }, brief];
  const { args, signals: carried } = await carryArguments('evaluate', [
    { briefs, judges: ['x/y'], out: 'eval', signal },
  ]);
  expect(carried).toEqual({ signal });
  expect(args).toEqual([
    {
      briefs: [{ ...brief, debate: join(here, 'plan'), given: '/other' }, brief],
      judges: ['x/y'],
      out: join(here, 'eval'),
    },
  ]);
});

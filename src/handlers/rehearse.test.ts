import { expect, test } from 'vitest';
import { processOf, stage, step } from '../../test/recipes/build.ts';
import type { Stage } from '../recipe/types.ts';
import { rehearseMeanwhile } from './rehearse.ts';

/** A process that tells whose contracts were asked for. */
function watchedProcess() {
  const asked = new Set<string>();
  const watch = (one: Stage): Stage => ({
    ...one,
    contracts: new Proxy(one.contracts, {
      get(target, name, receiver) {
        asked.add(one.key);
        return Reflect.get(target, name, receiver) as unknown;
      },
    }),
  });
  const stages = ['first', 'last'].map((key) =>
    stage(key, [step('write', 'PLAN', 'all_to_one', 'draft', [`seed:${key}/`])]),
  );
  const process = processOf('drafts', stages);
  return { asked, process: { ...process, stages: process.stages.map(watch) } };
}

test('while a model answers, the steps of the process are made ready', async () => {
  const { asked, process } = watchedProcess();
  const { promise, resolve } = Promise.withResolvers<void>();
  const rehearsing = rehearseMeanwhile(process, promise);
  await expect.poll(() => [...asked], { timeout: 30_000 }).toEqual(['first', 'last']);
  resolve();
  await rehearsing;
});

test('nothing is made ready before an answer that is there already, or has failed', async () => {
  const { asked, process } = watchedProcess();
  await rehearseMeanwhile(process, Promise.resolve());
  await rehearseMeanwhile(process, Promise.reject(new Error('refused')));
  expect([...asked]).toEqual([]);
});

import { expect, onTestFinished, test, vi } from 'vitest';
import { processOf, stage, step } from '../../../test/recipes/build.ts';
import type { Dialectic } from '../../api/dialectic.ts';
import type { WorkEvent } from '../../api/work-on-run.ts';
import { DialecticError } from '../../errors/errors.ts';
import { job, stageJob } from './run-events.fixture.ts';
import { showRun } from './show-run.ts';

const session = {
  process: processOf('p', [
    stage('thesis', [step('write', 'EXECUTE', 'all_to_one', 'case', ['seed:thesis/'])]),
  ]),
  lanes: [{ id: 'lane-1', ordinal: 1, model: 'offline/builder' }],
  untilStage: null,
  writerLaneId: null,
};

/** A store that gives these faults when it is asked first. */
function makeDialectic(...faults: DialecticError[]) {
  const waits = async () => {
    const next = faults.pop();
    if (next) throw next;
    return [];
  };
  const stub = {
    waits,
    session: async () => session,
    wallet: { balance: async () => ({ budgets: [] }) },
  };
  return stub as unknown as Dialectic;
}

async function* events(): AsyncGenerator<WorkEvent, void, void> {
  yield { kind: 'caught-up', cursor: null };
  yield { kind: 'store-away', message: 'The database server is away.' };
  yield { kind: 'store-back' };
  yield stageJob('job-created', 'thesis');
  yield { kind: 'caught-up', cursor: null };
  yield stageJob('job-completed', 'thesis');
  yield { kind: 'caught-up', cursor: null };
}

/** What is said, as it grows. */
function listen(): () => string {
  let said = '';
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said += String(text);
    return true;
  });
  onTestFinished(() => spy.mockRestore());
  return () => said;
}

const away = new DialecticError('database_unreachable', 'It is away.');

test('a store that is away when the screen opens ends nothing', async () => {
  const said = listen();
  await showRun(makeDialectic(away), 'the-session', events());
  expect(said()).toContain('Session the-session waits for its store');
  expect(said()).toContain('The store is back; session the-session goes on.');
  expect(said().indexOf('✓ thesis')).toBeGreaterThan(said().indexOf('The store is back'));
});

test('a screen that could not open does so while no event comes, and tells the news', async () => {
  const said = listen();
  const failed = (code: string): WorkEvent =>
    job('job-failed', { stage: 'thesis', step: 'write' }, { error: { code, message: code } });
  async function* quiet(): AsyncGenerator<WorkEvent, void, void> {
    yield stageJob('job-created', 'thesis');
    yield failed('of_before');
    yield { kind: 'caught-up', cursor: null };
    yield failed('of_now');
    yield { kind: 'caught-up', cursor: null };
    await expect.poll(said, { timeout: 10_000 }).toContain('in flight');
  }
  await showRun(makeDialectic(away, away), 'the-session', quiet());
  expect(said()).toContain('of_now');
  expect(said()).not.toContain('of_before');
});

test('what is wrong for good is told', async () => {
  const fault = new DialecticError('not_found', 'There is no such session.');
  await expect(showRun(makeDialectic(fault), 'the-session', events())).rejects.toBe(fault);
});

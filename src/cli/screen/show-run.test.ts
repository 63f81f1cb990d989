import { expect, onTestFinished, test, vi } from 'vitest';
import { processOf, stage, step } from '../../../test/recipes/build.ts';
import type { Dialectic } from '../../api/dialectic.ts';
import type { WorkEvent } from '../../api/work-on-run.ts';
import { DialecticError } from '../../errors/errors.ts';
import { stageJob } from './run-events.fixture.ts';
import { showRun } from './show-run.ts';

const session = {
  process: processOf('p', [
    stage('thesis', [step('write', 'EXECUTE', 'all_to_one', 'case', ['seed:thesis/'])]),
  ]),
  lanes: [{ id: 'lane-1', ordinal: 1, model: 'offline/builder' }],
  untilStage: null,
  writerLaneId: null,
};

/** A store that is away when it is asked for the first time. */
function makeDialectic(fault: DialecticError) {
  const faults = [fault];
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

const show = async (fault: DialecticError): Promise<string> => {
  let said = '';
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said += String(text);
    return true;
  });
  onTestFinished(() => spy.mockRestore());
  await showRun(makeDialectic(fault), 'the-session', events());
  return said;
};

test('a store that is away when the screen opens ends nothing', async () => {
  const said = await show(new DialecticError('database_unreachable', 'It is away.'));
  expect(said).toContain('Session the-session waits for its store');
  expect(said).toContain('The store is back; session the-session goes on.');
  expect(said.indexOf('✓ thesis')).toBeGreaterThan(said.indexOf('The store is back'));
});

test('what is wrong for good is told', async () => {
  const fault = new DialecticError('not_found', 'There is no such session.');
  await expect(show(fault)).rejects.toBe(fault);
});

import { expect, test } from 'vitest';
import { openDatabase } from '../../src/db/open.ts';
import { Bench, named } from '../engine.ts';
import { emptyDirectory, newTenant } from '../stores.ts';
import { startScript } from './processes.ts';

test('an end that a worker for all sessions told survives its kill on an embedded store', async () => {
  const dataDirectory = await emptyDirectory();
  const open = () => openDatabase({ dataDirectory }, { backupEveryMs: 0 });
  const first = await open();
  const { tenantId } = await newTenant(first);
  const bench = await Bench.open(first, tenantId);
  await bench.enqueue(named('last', { type: 'PLAN' }));
  await first.close();
  const worker = startScript('./end-session.ts', JSON.stringify({ dataDirectory }));
  await worker.line((line) => line === 'ended');
  worker.child.kill('SIGKILL');
  await worker.ended;
  const second = await open();
  const [session] = await second.asTenant(tenantId, (tx) =>
    tx.query<{ status: string }>('select status from sessions'),
  );
  await second.close();
  expect(session?.status).toBe('completed');
}, 60_000);

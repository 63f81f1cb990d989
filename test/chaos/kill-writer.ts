import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { openDatabase } from '../../src/db/open.ts';
import { LOCAL_TENANT } from '../../src/db/tenants.ts';
import { startScript } from './processes.ts';

/** kill -9 of a process in the middle of its transactions, again and again, on one directory. */
export async function killWriter(dataDirectory: string, rounds: number, seed: number) {
  let acknowledged = -1;
  let state = seed;
  for (let round = 0; round < rounds; round++) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    const writer = startScript('writer.ts', dataDirectory, String(acknowledged + 1));
    const first = acknowledged + 1;
    await writer.line((line) => line !== 'open' && Number(line) > first);
    await sleep(state % 280);
    writer.child.kill('SIGKILL');
    await writer.ended;
    acknowledged = Number(writer.lines.at(-1));
    acknowledged = await expectWhole(dataDirectory, acknowledged, `seed ${seed}, round ${round}`);
  }
  return acknowledged + 1;
}

type Kept = { kept: number; all: number; distinct: number; pairs: boolean; highest: number };

/**
 * Checks what was kept and returns the highest number: a commit whose acknowledgement was lost may
 * be there too, and then the next round starts behind it.
 */
async function expectWhole(dataDirectory: string, acknowledged: number, when: string) {
  const database = await openDatabase({ dataDirectory }, { backupEveryMs: 0 });
  const [row] = await database.asTenant(LOCAL_TENANT, (tx) =>
    tx.query<Kept>(
      `select count(*) filter (where (payload->>'n')::int <= $1) as kept,
         count(*) as all, count(distinct (topic, payload)) as distinct,
         count(*) filter (where topic = 'a') = count(*) filter (where topic = 'b') as pairs,
         max((payload->>'n')::int) as highest
       from events`,
      [acknowledged],
    ),
  );
  await database.close();
  expect(row!.kept, `${when}: acknowledged rows`).toBe((acknowledged + 1) * 2);
  expect(row!.all, `${when}: rows written twice`).toBe(row!.distinct);
  expect(row!.pairs, `${when}: half transactions`).toBe(true);
  return row!.highest;
}

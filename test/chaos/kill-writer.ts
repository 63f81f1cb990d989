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
    await writer.line((line) => line === 'open');
    await sleep(20 + (state % 280));
    writer.child.kill('SIGKILL');
    await writer.ended;
    const last = writer.lines.filter((line) => line !== 'open').at(-1);
    acknowledged = Number(last ?? acknowledged);
    await expectWhole(dataDirectory, acknowledged, `seed ${seed}, round ${round}`);
    acknowledged = await highest(dataDirectory);
  }
  return acknowledged + 1;
}

async function look<Row extends Record<string, unknown>>(dataDirectory: string, sql: string) {
  const database = await openDatabase({ dataDirectory }, { backupEveryMs: 0 });
  const rows = await database.asTenant(LOCAL_TENANT, (tx) => tx.query<Row>(sql));
  await database.close();
  return rows;
}

/** A commit whose acknowledgement was lost may be there too: then the next round starts behind it. */
async function highest(dataDirectory: string): Promise<number> {
  const sql = `select max((payload->>'n')::int) as n from events`;
  return (await look<{ n: number | null }>(dataDirectory, sql))[0]!.n ?? -1;
}

async function expectWhole(dataDirectory: string, acknowledged: number, when: string) {
  const [row] = await look(
    dataDirectory,
    `select count(*) filter (where (payload->>'n')::int <= ${acknowledged}) as kept,
       count(*) as all, count(distinct (topic, payload)) as distinct,
       count(*) filter (where topic = 'a') = count(*) filter (where topic = 'b') as pairs
     from events`,
  );
  expect(row!['kept'], `${when}: acknowledged rows`).toBe((acknowledged + 1) * 2);
  expect(row!['all'], `${when}: rows written twice`).toBe(row!['distinct']);
  expect(row!['pairs'], `${when}: half transactions`).toBe(true);
}

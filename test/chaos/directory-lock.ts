import { expect } from 'vitest';
import { openDatabase } from '../../src/db/open.ts';
import { LOCAL_TENANT } from '../../src/db/tenants.ts';
import { startScript } from './processes.ts';

/** Tries to open a held directory; returns how long the refusal took. */
async function tryToOpen(dataDirectory: string, holder: number): Promise<number> {
  const started = performance.now();
  const second = startScript('writer.ts', dataDirectory, '0', '1');
  const code = await second.ended;
  const { error } = JSON.parse(second.errors.join(''));
  expect(code).toBe(3);
  expect(error.code).toBe('data_directory_locked');
  expect(error.details.pid).toBe(holder);
  expect(error.message).toContain(String(holder));
  return performance.now() - started;
}

/** A living holder, running and then stopped, refuses every second opener and loses nothing. */
export async function refuseSecondOpeners(dataDirectory: string, tries: number): Promise<void> {
  const holder = startScript('writer.ts', dataDirectory);
  await holder.line((line) => line === '0');
  const pid = holder.child.pid!;

  const times: number[] = [];
  for (let attempt = 0; attempt < tries / 2; attempt++) {
    times.push(await tryToOpen(dataDirectory, pid));
  }
  holder.child.kill('SIGSTOP');
  for (let attempt = 0; attempt < tries / 2; attempt++) {
    times.push(await tryToOpen(dataDirectory, pid));
  }
  holder.child.kill('SIGCONT');
  const before = holder.lines.length;
  await expect.poll(() => holder.lines.length).toBeGreaterThan(before);
  console.log(`refused in ${Math.max(...times).toFixed(0)} ms at most, process start included`);

  holder.child.kill('SIGKILL');
  await holder.ended;
  const acknowledged = holder.lines.filter((line) => line !== 'open').length;
  const database = await openDatabase({ dataDirectory }, { backupEveryMs: 0 });
  const [row] = await database.asTenant(LOCAL_TENANT, (tx) =>
    tx.query<{ n: number }>(`select count(*) as n from events where topic = 'a'`),
  );
  await database.close();
  expect(row!.n).toBeGreaterThanOrEqual(acknowledged);
}

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { appendEvents, readEvents } from '../../src/db/events.ts';
import { newTenant, openTestStore } from '../stores.ts';

/**
 * Reads while so many writers write so many events in all. Writers commit in another order than their
 * sequence numbers, since some transactions dawdle after they wrote. A reader by number would skip
 * those; the cursor must not.
 */
export async function readBesideWriters(writers: number, events: number): Promise<void> {
  const database = await openTestStore('server');
  const { tenantId } = await newTenant(database);
  const each = events / writers;
  let writing = writers;
  const write = async (writer: number): Promise<void> => {
    for (let n = 0; n < each; ) {
      const size = Math.min(1 + ((n * 7 + writer) % 90), each - n);
      await database.asTenant(tenantId, async (tx) => {
        const batch = Array.from({ length: size }, (_, index) => ({
          topic: `writer/${writer}`,
          kind: 'number-written',
          payload: { n: n + index },
        }));
        await appendEvents(tx, batch);
        if ((n + writer) % 5 === 0) await sleep(writer * 2);
      });
      n += size;
    }
    writing--;
  };
  const seen: string[] = [];
  const next = new Array<number>(writers).fill(0);
  let disorder = 0;
  const read = async (): Promise<void> => {
    let after: string | null = null;
    // Other transactions of the server hold the horizon back, so an empty page does not mean the end.
    for (let last = false; !last; ) {
      last = writing === 0 && seen.length >= events;
      const page = await readEvents(database, { tenantId, after, limit: 1_000 });
      for (const event of page) {
        const writer = Number(event.topic.slice('writer/'.length));
        if (event.payload['n'] !== next[writer]!++) disorder++;
        seen.push(event.cursor);
      }
      after = page.at(-1)?.cursor ?? after;
    }
  };
  await Promise.all([read(), ...Array.from({ length: writers }, (_, writer) => write(writer))]);
  expect(seen.length).toBe(events);
  expect(new Set(seen).size).toBe(events);
  expect(disorder).toBe(0);
}

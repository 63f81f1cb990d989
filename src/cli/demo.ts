import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import type { Database } from '../db/database.ts';
import { appendEvents, readEvents } from '../db/events.ts';
import { openDatabase } from '../db/open.ts';
import { createTenant, type Identity } from '../db/tenants.ts';
import { elapsedMs } from '../platform/clock.ts';

const say = (line = ''): void => void process.stdout.write(`${line}\n`);

/** `dialectic demo`: opens a store of its own and shows what each of two tenants sees. */
export function demoCommand(): Command {
  return new Command('demo')
    .description('show the store at work, with no key, network or server')
    .action(async () => {
      const folder = await mkdtemp(join(tmpdir(), 'dialectic-demo-'));
      const started = elapsedMs();
      const database = await openDatabase({ dataDirectory: folder });
      try {
        say(`An embedded PostgreSQL opened in ${Math.round(elapsedMs() - started)} ms.`);
        await showTenants(database);
      } finally {
        await database.close();
        await rm(folder, { recursive: true, force: true });
      }
    });
}

async function showTenants(database: Database): Promise<void> {
  const ada = await createTenant(database, 'Ada', { email: 'ada@example.org', name: 'Ada' });
  const bob = await createTenant(database, 'Bob', { email: 'bob@example.org', name: 'Bob' });
  await write(database, ada, ['project-created', 'brief-saved']);
  await write(database, bob, ['project-created']);
  for (const [name, { tenantId }] of Object.entries({ Ada: ada, Bob: bob })) {
    const events = await readEvents(database, { tenantId, after: null });
    say(`${name} sees ${events.length} events: ${events.map((event) => event.kind).join(', ')}`);
  }
  const peek = await database.asTenant(ada.tenantId, (tx) =>
    tx.query('select * from events where tenant_id = $1', [bob.tenantId]),
  );
  say(`Ada asks for Bob's events by his id and gets ${peek.length}.`);
  const forged = await write(database, ada, ['project-deleted'], bob.tenantId).catch(
    (error: { code: string }) => error.code,
  );
  say(`Ada writes an event in Bob's name: ${String(forged)}.`);
}

/** Appends events as one tenant, by default in its own name. */
async function write(database: Database, as: Identity, kinds: string[], tenantId = as.tenantId) {
  await database.asTenant(as.tenantId, (tx) =>
    appendEvents(
      tx,
      kinds.map((kind) => ({ tenantId, topic: 'project/1', kind })),
    ),
  );
}

import { rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { LocalDialectic } from '../../src/api/dialectic.ts';
import type { OpenedStore } from '../../src/api/store.ts';
import { driveRun } from '../../src/cli/drive.ts';
import { tell } from '../../src/cli/output.ts';
import type { StoreLocation } from '../../src/db/open.ts';
import { DEFAULT_JOB_SETTINGS } from '../../src/jobs/settings.ts';
import { readModelsConfig } from '../../src/models/config.ts';
import { startServer } from '../../src/models/loopback.fixture.ts';
import { startRun } from '../../src/session/start.ts';
import type { RunResult } from '../../src/session/summary.ts';
import { processOf, stage, step } from '../recipes/build.ts';
import { answer, GOOD_TEXT } from '../security/answer-events.ts';
import { fillDisk, mountSmallDisk, testWithDisk } from '../small-disk.ts';
import { emptyDirectory, emptyStore, newTenant, openStore } from '../stores.ts';

const drive = (
  store: Pick<OpenedStore, 'database' | 'tenantId' | 'models'>,
  sessionId: string,
): Promise<RunResult> => {
  const dialectic = new LocalDialectic({ ...store, jobs: DEFAULT_JOB_SETTINGS, log: tell });
  return driveRun(dialectic, sessionId, { out: undefined, concurrency: 1 });
};

type Fault = { begin(): void; end(): Promise<void> };

/** A wire to the database server that can be cut for as long as one likes. */
async function startWire(): Promise<Fault & { port: string }> {
  const { hostname, port } = new URL(inject('postgresUrl'));
  const sockets = new Set<Socket>();
  let isCut = false;
  const wire = createServer((client) => {
    if (isCut) return void client.destroy();
    const server = connect(Number(port), hostname);
    client.pipe(server).pipe(client);
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => [client, server].map((one) => one.destroy()));
    }
  });
  await new Promise<void>((resolve) => wire.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    cut();
    wire.close();
  });
  return {
    port: String((wire.address() as { port: number }).port),
    begin: cut,
    end: async () => {
      isCut = false;
    },
  };
}

/** Runs one document; the fault begins while its answer is under way, and ends when it was told. */
async function runThrough(place: StoreLocation, fault: Fault): Promise<void> {
  const database = await openStore(place, { reserveBytes: 1_000_000 });
  const { tenantId } = await newTenant(database);
  let requests = 0;
  const server = await startServer((_, response) => {
    requests++;
    fault.begin();
    setTimeout(() => answer(response, GOOD_TEXT), 700);
  });
  onTestFinished(() => server.stop());
  const draft = step('draft', 'EXECUTE', 'all_to_one', 'draft', ['seed:draft/']);
  const { sessionId } = await database.asTenant(tenantId, (tx) =>
    startRun(tx, {
      name: 'P',
      brief: 'Write about bread.',
      process: processOf('drafts', [stage('draft', [draft])]),
      models: ['compatible/m'],
    }),
  );
  let said = '';
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said += String(text);
    return true;
  });
  onTestFinished(() => spy.mockRestore());
  const models = readModelsConfig({ DIALECTIC_BASE_URL: server.url });
  const driving = drive({ database, tenantId, models }, sessionId);
  await vi.waitFor(
    () => {
      expect(said).toContain(`Session ${sessionId} waits for its store:`);
      expect(said).toMatch(new RegExp(`of session ${sessionId} keeps what it received`));
    },
    { timeout: 60_000 },
  );
  await fault.end();
  expect(await driving).toMatchObject({ status: 'completed', calls: 1 });
  expect(requests).toBe(1);
  expect(said).toContain(`The store is back; session ${sessionId} goes on.`);
  await database.close();
}

test('a run outlives a database that is stopped, and the answer under way is kept', async () => {
  const place = await emptyStore('server');
  if (!('databaseUrl' in place)) throw new Error('not a server');
  const wire = await startWire();
  const databaseUrl = Object.assign(new URL(place.databaseUrl), { port: wire.port }).href;
  await runThrough({ databaseUrl }, wire);
}, 60_000);

testWithDisk(
  'a run outlives a full disk, and the answer under way is kept',
  async () => {
    const disk = await mountSmallDisk(200);
    const filled = { path: '' };
    await runThrough(
      { dataDirectory: await emptyDirectory(join(disk, 'data')) },
      {
        begin: () => {
          filled.path = fillDisk(disk, 500_000);
        },
        end: () => rm(filled.path),
      },
    );
  },
  60_000,
);

test('whatever ends a run names its session', async () => {
  const database = await openStore(await emptyStore('embedded'));
  const { tenantId } = await newTenant(database);
  await database.close();
  const sessionId = '01890000-0000-7000-8000-000000000000';
  const models = readModelsConfig({});
  await expect(drive({ database, tenantId, models }, sessionId)).rejects.toMatchObject({
    message: expect.stringContaining(`dialectic resume ${sessionId}`),
    details: { session: sessionId },
  });
});

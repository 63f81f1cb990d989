import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase, type StoreLocation } from '../../src/db/open.ts';
import { LOCAL_TENANT } from '../../src/db/tenants.ts';
import { createHandlers } from '../../src/handlers/create-handlers.ts';
import { Worker } from '../../src/jobs/worker.ts';
import { readModelsConfig } from '../../src/models/config.ts';
import { createModelProvider } from '../../src/models/provider.ts';
import { readSession } from '../../src/session/read.ts';

// A worker process for the tests that kill it: says when text arrives, and how the session ended.
type Settings = {
  place: StoreLocation;
  baseUrl: string;
  sessionId: string;
  concurrency: number;
};
const { place, baseUrl, sessionId, concurrency } = JSON.parse(process.argv[2]!) as Settings;
const say = (line: string): void => void writeSync(1, `${line}\n`);
let streaming = false;

const database = await openDatabase(place, { backupEveryMs: 0 });
const config = readModelsConfig({ DIALECTIC_BASE_URL: baseUrl });
const handlers = createHandlers({
  database,
  config,
  provider: createModelProvider(config),
  onDelta: () => {
    if (!streaming) say('streaming');
    streaming = true;
  },
});
const worker = new Worker({ database, handlers, concurrency, pollMs: 200, log: say });
await worker.start();
for (;;) {
  const { status } = await database.asTenant(LOCAL_TENANT, (tx) => readSession(tx, sessionId));
  if (status !== 'running') {
    say(`session ${status}`);
    break;
  }
  await sleep(100);
}
await worker.stop();
await database.close();

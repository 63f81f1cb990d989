import { writeSync } from 'node:fs';
import { openDatabase } from '../../src/db/open.ts';
import { LOCAL_TENANT } from '../../src/db/tenants.ts';
import { configFor, work } from './sessions.ts';

// A process that works on a session until it is over, for the test that kills it.
type Settings = { place: { dataDirectory: string }; url: string; sessionId: string };
const { place, url, sessionId } = JSON.parse(process.argv[2]!) as Settings;
const say = (line: string): void => void writeSync(1, `${line}\n`);

const database = await openDatabase(place, { backupEveryMs: 0 });
say('open');
const config = configFor(url);
say(`ended ${await work(database, { tenantId: LOCAL_TENANT, sessionId }, config)}`);
await database.close();

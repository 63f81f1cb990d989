import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { createModelProvider } from '../../src/models/provider.ts';
import type { ModelProvider } from '../../src/models/types.ts';
import { writeTextFolder } from '../../src/platform/folders.ts';
import { planReplay, readRecordedRun } from '../../src/replay/read-recorded-run.ts';
import { startAsRecorded } from '../../src/replay/start-as-recorded.ts';
import { iterateSession } from '../../src/session/advance.ts';
import { startRun } from '../../src/session/start.ts';
import { newTenant, openTestStore, temporaryFolder } from '../stores.ts';
import { CONFIG, debate, type Place, work, writer } from './record.ts';

let place: Place;
beforeAll(async () => {
  const database = await openTestStore('server');
  place = { database, tenantId: (await newTenant(database)).tenantId };
});

const SETTINGS = 'project_settings.json';
const BRIEF = 'Pre-orders for a bakery.';
const WITHOUT = `<user_request>\n${BRIEF}\n</user_request>`;
const WITH = `Today is Thursday, 19 November 2026.\n\n${WITHOUT}`;

/** A provider that also keeps how its requests begin. */
function noteBeginnings(provider: ModelProvider) {
  const beginnings: string[] = [];
  const noting: ModelProvider = {
    generate(request, options) {
      beginnings.push(request.messages[0]!.content);
      return provider.generate(request, options);
    },
  };
  return { noting, beginnings };
}

async function replay(files: ReadonlyMap<string, string>) {
  const folder = join(await temporaryFolder(), 'run');
  await writeTextFolder(folder, files);
  const recorded = await readRecordedRun(folder);
  const config = { ...CONFIG, recording: { recording: recorded.recording, pace: 0, fill: null } };
  const { noting, beginnings } = noteBeginnings(createModelProvider(config));
  const planned = await planReplay(recorded, undefined);
  const sessionId = await place.database.asTenant(place.tenantId, (tx) =>
    startAsRecorded(tx, recorded, planned),
  );
  const left = await work(place, sessionId, { provider: noting, config });
  return { ...left, beginnings };
}

test('the date of a session is in every request of every pass, and in those of its replay', async () => {
  const { database, tenantId } = place;
  const run = { name: 'Bread', brief: BRIEF, process: debate(), date: '2026-11-19' };
  const models = ['compatible/a', 'compatible/b'];
  const { sessionId } = await database.asTenant(tenantId, (tx) => startRun(tx, { ...run, models }));
  const { noting, beginnings } = noteBeginnings(writer);
  const go = () => work(place, sessionId, { provider: noting, config: CONFIG });
  const first = await go();
  const ofFirst = beginnings.length;
  const settings = JSON.parse(first.files.get(SETTINGS)!);
  expect(settings).toMatchObject({ session: { date: '2026-11-19' } });

  const again = await replay(first.files);
  expect(again.session.date).toBe('2026-11-19');
  expect(again.beginnings).toHaveLength(ofFirst);
  expect(new Set(again.beginnings)).toEqual(new Set([WITH]));

  const { date: _date, ...session } = settings.session;
  const older = new Map(first.files).set(SETTINGS, JSON.stringify({ ...settings, session }));
  const undated = await replay(older);
  expect(undated.session.date).toBeNull();
  expect(new Set(undated.beginnings)).toEqual(new Set([WITHOUT]));

  await database.asTenant(tenantId, (tx) => iterateSession(tx, sessionId));
  await go();
  expect(beginnings.length).toBeGreaterThan(ofFirst);
  expect(new Set(beginnings)).toEqual(new Set([WITH]));
});

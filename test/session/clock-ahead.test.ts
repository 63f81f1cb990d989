import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { type Dialectic, LocalDialectic } from '../../src/api/dialectic.ts';
import { resumeCommand } from '../../src/cli/resume.ts';
import { showRun } from '../../src/cli/screen/show-run.ts';
import { findSession } from '../../src/cli/sessions.ts';
import type { Database } from '../../src/db/database.ts';
import { ensureLocalTenant, LOCAL_TENANT } from '../../src/db/tenants.ts';
import { DEFAULT_JOB_SETTINGS } from '../../src/jobs/settings.ts';
import { readModelsConfig } from '../../src/models/config.ts';
import { listSessions } from '../../src/session/list-sessions.ts';
import { startRun } from '../../src/session/start.ts';
import { processOf, stage, step } from '../recipes/build.ts';
import { emptyDirectory, openStore } from '../stores.ts';

let dataDirectory: string;
let database: Database;
beforeAll(async () => {
  dataDirectory = await emptyDirectory();
  database = await openStore({ dataDirectory });
  await ensureLocalTenant(database);
});

const draft = step('draft', 'EXECUTE', 'all_to_one', 'draft', ['seed:draft/']);
const start = async (): Promise<string> => {
  const { sessionId } = await database.asTenant(LOCAL_TENANT, (tx) =>
    startRun(tx, {
      name: 'P',
      brief: 'Write about bread.',
      process: processOf('drafts', [stage('draft', [draft])]),
      models: ['offline/builder'],
    }),
  );
  return sessionId;
};

const openApi = (): Dialectic =>
  new LocalDialectic({
    database,
    tenantId: LOCAL_TENANT,
    models: readModelsConfig({}),
    jobs: DEFAULT_JOB_SETTINGS,
    log: () => {},
  });

/** As if the clock had been three days ahead when the session was made. */
const moveAhead = (sessionId: string) =>
  database.transaction({ as: 'owner' }, async (tx) => {
    const later = "app_now() + interval '3 days'";
    await tx.query(`update sessions set created_at = ${later} where id = $1`, [sessionId]);
    await tx.query(`update jobs set run_after = ${later} where session_id = $1`, [sessionId]);
  });

function listen(): () => string {
  let said = '';
  const hear = (text: unknown): boolean => {
    said += String(text);
    return true;
  };
  const spies = [process.stderr, process.stdout].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation(hear),
  );
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
  });
  return () => said;
}

test('a session of a clock that was ahead is not the newest, and that is said', async () => {
  const dialectic = openApi();
  const said = listen();
  const ahead = await start();
  await moveAhead(ahead);
  const newest = await start();
  expect((await findSession(dialectic, undefined)).id).toBe(newest);
  expect(said()).toMatch(
    new RegExp(`clock was ahead: ${ahead} \\(.*Taken as the newest: ${newest}`),
  );
  expect((await findSession(dialectic, ahead)).id).toBe(ahead);
  const listed = await listSessions(database, LOCAL_TENANT);
  expect(listed.map(({ id, ahead: isAhead }) => [id, isAhead])).toEqual([
    [newest, false],
    [ahead, true],
  ]);
});

test('what waits for a date is told with the date, and `resume --now` goes on', async () => {
  const sessionId = await start();
  await moveAhead(sessionId);
  const said = listen();
  const stop = new AbortController();
  const dialectic = openApi();
  const events = dialectic.watch(sessionId, { signal: stop.signal });
  const watching = showRun(dialectic, sessionId, events);
  await vi.waitFor(
    () => {
      expect(said()).toMatch(/1 job waits until 20\d\d-.*, 7\d h \d+ min from now: the clock was/);
      expect(said()).toContain(`dialectic resume ${sessionId} --now`);
    },
    { timeout: 60_000 },
  );
  stop.abort();
  await watching;
  await database.close();
  await resumeCommand().parseAsync([sessionId, '--data', dataDirectory, '--now'], { from: 'user' });
  expect(said()).toMatch(/completed: 1 call, 1 document/);
});

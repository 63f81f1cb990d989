import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { DialecticError } from '../../src/errors/errors.ts';
import { retrySession } from '../../src/jobs/sessions.ts';
import type { PlannedJob } from '../../src/planning/types.ts';
import type { Process } from '../../src/recipe/types.ts';
import { startRun } from '../../src/session/start.ts';
import { processOf, stage, step } from '../recipes/build.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';
import { runUntil, writeTrivially } from './trivial.ts';

const chain = processOf('chain', [
  stage('s', [
    step('head', 'PLAN', 'all_to_one', 'head', ['seed:s/']),
    step('draft', 'EXECUTE', 'per_source_document', 'draft', ['header:s/head']),
    step('check', 'EXECUTE', 'per_source_document', 'check', ['header:s/head=0.5', 'doc:s/draft']),
  ]),
]);

/** `last` reads the document before it alone, and is of the lineage that the first one begins. */
const row = processOf('row', [
  stage('s', [
    step('first', 'EXECUTE', 'all_to_one', 'first', ['seed:s/']),
    step('then', 'EXECUTE', 'per_source_document', 'then', ['doc:s/first']),
    step('last', 'EXECUTE', 'per_source_document', 'last', ['doc:s/then']),
  ]),
]);

/** `join` reads two documents neither of which comes after the other. */
const fork = processOf('fork', [
  stage('s', [
    step('a', 'EXECUTE', 'all_to_one', 'a', ['seed:s/']),
    step('b', 'EXECUTE', 'all_to_one', 'b', ['seed:s/']),
    step('after-a', 'EXECUTE', 'all_to_one', 'after-a', ['doc:s/a']),
    step('join', 'EXECUTE', 'all_to_one', 'join', ['doc:s/a=0.9', 'doc:s/b=0.8']),
  ]),
]);

/** `y` is told what `b` has lost, so that it is planned when `b` is over. */
const mixed = processOf('mixed', [
  stage('s', [
    step('a', 'EXECUTE', 'all_to_one', 'a', ['seed:s/']),
    step('b', 'EXECUTE', 'all_to_one', 'b', ['seed:s/'], { dependencyPolicy: 'any' }),
    step('x', 'EXECUTE', 'all_to_one', 'x', ['doc:s/a']),
    step('y', 'EXECUTE', 'all_to_one', 'y', ['doc:s/b']),
  ]),
]);

type Seen = { step: string; status: string; behind: string | null };

describeOnBoth('steps that only wait for each other', (kind) => {
  let database: Database;
  let tenantId: string;
  beforeAll(async () => {
    database = await openTestStore(kind);
    ({ tenantId } = await newTenant(database));
  });
  const start = async (process: Process) => {
    const run = { name: 'P', brief: 'A thing.', process, models: ['x/a'] };
    const { sessionId } = await database.asTenant(tenantId, (tx) => startRun(tx, run));
    return { tenantId, sessionId };
  };
  const query = <Row extends object>(text: string, sessionId: string) =>
    database.asTenant(tenantId, (tx) => tx.query<Row>(text, [sessionId]));
  const jobsOf = (sessionId: string) =>
    query<Seen>(
      `select j.step_key as step, j.status, p.step_key as behind from jobs j
       left join jobs p on p.id = j.prerequisite_job_id
       where j.session_id = $1 and j.job_type = 'EXECUTE' order by j.seq`,
      sessionId,
    );

  test('are planned at once, each behind the last one that it reads', async () => {
    const place = await start(chain);
    const seen = new Map<string, Seen[]>();
    const note = async ({ step }: PlannedJob) => {
      seen.set(step, await jobsOf(place.sessionId));
      return {};
    };
    await runUntil(database, place, 'completed', writeTrivially(note));
    expect(seen.get('head')).toEqual([
      { step: 'head', status: 'processing', behind: null },
      { step: 'draft', status: 'waiting_for_prerequisite', behind: 'head' },
      { step: 'check', status: 'waiting_for_prerequisite', behind: 'draft' },
    ]);
    const documents = await query<{ step: string; read: string[]; isOfHead: boolean }>(
      `select d.step_key as step, d.source_group = h.contribution_id as "isOfHead", (
         select json_agg(i.step_key order by i.step_key) from jsonb_array_elements(d.inputs) n,
           jsonb_array_elements_text(n->'ids') as given (id)
         join documents i on i.id = given.id::uuid) as read
       from documents d join documents h on h.session_id = d.session_id and h.step_key = 'head'
       where d.session_id = $1 and d.kind = 'document' order by d.step_key`,
      place.sessionId,
    );
    expect(documents).toEqual([
      { step: 'check', read: ['draft', 'head'], isOfHead: true },
      { step: 'draft', read: ['head'], isOfHead: true },
    ]);
  });

  test('keep the lineage of a document that they do not read themselves', async () => {
    const place = await start(row);
    await runUntil(database, place, 'completed');
    const documents = await query<{ step: string; isOfFirst: boolean }>(
      `select d.step_key as step, d.source_group = f.contribution_id as "isOfFirst"
       from documents d join documents f on f.session_id = d.session_id and f.step_key = 'first'
       where d.session_id = $1 and d.kind = 'document' order by d.created_at, d.id`,
      place.sessionId,
    );
    expect(documents).toEqual(
      ['first', 'then', 'last'].map((key) => ({ step: key, isOfFirst: true })),
    );
    const [behind] = await query<{ n: number }>(
      `select count(prerequisite_job_id) as n from jobs where session_id = $1`,
      place.sessionId,
    );
    expect(behind).toEqual({ n: 2 });
  });

  test('begin, as far as people are told, when they do', async () => {
    const place = await start(chain);
    await runUntil(database, place, 'completed');
    const told = await query<{ what: string }>(
      `select kind || ' ' || (payload->>'step') as what from events
       where topic = 'session/' || $1 and kind like 'step-%' order by tx, id`,
      place.sessionId,
    );
    expect(told.map(({ what }) => what)).toEqual(
      ['head', 'draft', 'check'].flatMap((key) => [`step-started ${key}`, `step-completed ${key}`]),
    );
  });

  test.each([
    ['reads what does not come in a row', fork],
    ['reads what may lose a part', mixed],
  ])('wait where one of those that are ready together %s', async (_, process) => {
    const place = await start(process);
    let planned: string[] = [];
    const note = async ({ step }: PlannedJob) => {
      if (step === 'a') planned = (await jobsOf(place.sessionId)).map((job) => job.step);
      return {};
    };
    await runUntil(database, place, 'completed', writeTrivially(note));
    expect(planned).toEqual(['a', 'b']);
    expect(await jobsOf(place.sessionId)).toHaveLength(4);
  });

  test('fail with the first that does, and are tried again with it', async () => {
    const place = await start(chain);
    let isBroken = true;
    const execute = writeTrivially(({ step }) => {
      if (isBroken && step === 'draft') throw new DialecticError('model_refused', 'It will not.');
      return {};
    });
    await runUntil(database, place, 'failed', execute);
    const errors = await query<{ code: string }>(
      `select error->>'code' as code from jobs where session_id = $1 and job_type = 'EXECUTE'
       and error is not null order by seq`,
      place.sessionId,
    );
    expect(errors.map(({ code }) => code)).toEqual(['model_refused', 'parent_ended']);
    isBroken = false;
    await database.asTenant(tenantId, (tx) => retrySession(tx, place.sessionId));
    await runUntil(database, place, 'completed', execute);
    expect((await jobsOf(place.sessionId)).map(({ status }) => status)).toEqual(
      Array.from({ length: 3 }, () => 'completed'),
    );
  });
});

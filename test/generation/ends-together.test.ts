import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import type { Transaction } from '../../src/db/transaction.ts';
import { saveContribution, saveDocument } from '../../src/documents/documents.ts';
import { endCall } from '../../src/handlers/end-call.ts';
import { commitEffects } from '../../src/jobs/context.ts';
import { claimJobs } from '../../src/jobs/queries.ts';
import type { Job } from '../../src/jobs/types.ts';
import type { PlannedJob } from '../../src/planning/types.ts';
import { newId } from '../../src/platform/ids.ts';
import { holdFunds } from '../../src/wallet/holds.ts';
import { Bench, named } from '../engine.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';
import { watchTexts } from '../watch-texts.ts';

const USAGE = { cachedInputTokens: 0, cacheWriteTokens: 0, estimated: false };
const RATES = { input: 1, cachedInput: 1, cacheWrite: 1, output: 2 };
const PRICE = { source: 'configuration' as const, rates: RATES, steps: [] };
const NAMES = ['a', 'b', 'c', 'd'];
/** The third answer is only a part of a document: it leaves a chunk and no document. */
const isPart = (name: string): boolean => name === 'c';

/** No lane: a session of the engine has none. */
const planned = (name: string) =>
  ({
    identity: `s/${name}`,
    stage: 's',
    step: 's',
    laneId: null,
    iteration: 1,
    documentKey: name,
    outputKind: 'document',
    inputs: [],
    sourceGroup: null,
    relationships: {},
  }) as unknown as PlannedJob;

describeOnBoth('calls that end together', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await openTestStore(kind);
  });

  /** Jobs of one session that were claimed and whose calls were sent. */
  async function callAll() {
    const { tenantId } = await newTenant(database);
    const bench = await Bench.open(database, tenantId);
    await bench.enqueue(...NAMES.map((name) => named(name)));
    const claimed = await claimJobs(database, newId(), NAMES.length, 60_000, 'nothing', bench);
    const jobs = claimed.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)));
    const calls = new Map(jobs.map((job) => [job.id, newId()]));
    await database.asTenant(tenantId, async (tx) => {
      for (const job of jobs) {
        const callId = calls.get(job.id)!;
        const most = { usdMicros: 900, tokens: 900, inputUsdMicros: 1, inputTokens: 1 };
        const place = { sessionId: job.sessionId, provider: 'x', price: PRICE };
        await holdFunds(tx, { callId, purpose: 'generation', ...place, ...most });
        await tx.query(
          `insert into model_calls (tenant_id, id, session_id, job_id, model, purpose)
           values ($1, $2, $3, $4, 'x/m', 'document')`,
          [tenantId, callId, job.sessionId, job.id],
        );
      }
    });
    const end = (job: Job, version = 1) =>
      commitEffects(database, job, effectsOf(job, calls.get(job.id)!, version));
    return { tenantId, bench, jobs, end };
  }

  const effectsOf = (job: Job, callId: string, version: number) => ({
    writeAtOnce: (tx: Transaction) => {
      const name = nameOf(job);
      const id = newId();
      const place = { sessionId: job.sessionId, jobId: job.id };
      const text = `{"says": "it's \\"${name}\\" \\\\ {1,2}"}`;
      const usage = { ...USAGE, inputTokens: 10, outputTokens: NAMES.indexOf(name) };
      const origin = { kind: 'model' as const };
      const answer = { text, finishReason: 'stop' as const, usage, responseId: null, origin };
      const texts = { content: JSON.parse(text), body: text, page: `# ${text}` };
      const document = { ...place, ...texts, planned: planned(name), version };
      return Promise.all([
        saveContribution(tx, { ...place, id, chainId: job.chainId, text, finishReason: 'stop' }),
        isPart(name) ? undefined : saveDocument(tx, { ...document, contributionId: id }),
        endCall(tx, { callId, model: 'x/m', price: PRICE, answer }, id),
      ]);
    },
  });

  /** What is left, without ids and times, job by job. */
  async function readLeft({ tenantId, bench }: Awaited<ReturnType<typeof callAll>>) {
    const statuses = await bench.statuses();
    return database.asTenant(tenantId, async (tx) => ({
      statuses,
      events: await tx.query(
        `select j.payload->>'name' as name, jsonb_agg(e.kind || ' ' || e.told order by e.id) as told
         from jobs j join (
           select v.id, v.kind, coalesce(i.one->>'jobId', v.payload->>'jobId') as job_id,
             (v.payload - '{jobId,chainId,contributionId,documentId,callId,each}'::text[])::text
               as told
           from events v left join lateral jsonb_array_elements(v.payload->'each') as i (one) on true
         ) as e on e.job_id = j.id::text
         group by j.seq, name order by j.seq`,
      ),
      rows: await tx.query(
        `select j.payload->>'name' as name, c.ordinal, b.body, d.content, d.version, m.status,
           m.input_tokens, m.output_tokens, m.cost_micros, m.contribution_id = c.id as answered,
           (select array_agg(t.body order by t.body) from blobs t
             where t.hash in (d.body_hash, d.markdown_hash)) as texts
         from jobs j left join contributions c on c.job_id = j.id
         left join blobs b on b.hash = c.blob_hash
         left join documents d on d.contribution_id = c.id
         join model_calls m on m.job_id = j.id order by j.seq`,
      ),
      accounts: await tx.query(
        `select kind, owner, currency, balance, held, entry_count from accounts
         order by kind, owner, currency`,
      ),
    }));
  }

  test('leave the same as one behind the other', async () => {
    const alone = await callAll();
    for (const job of alone.jobs) await alone.end(job);
    const group = await callAll();
    const sent = await watchTexts(database);
    await Promise.all(group.jobs.map((job) => group.end(job)));
    const names = [
      ...sent()
        .join('\n')
        .matchAll(/execute "batch_([^"]+)"/g),
    ].map(([, one]) => one);
    expect(names).toEqual([
      'hold-leases',
      'save-blobs',
      'save-contributions',
      'save-documents',
      'post-calls',
      'end-calls',
      'drop-pieces',
      'complete-jobs',
    ]);
    const left = await readLeft(group);
    expect(left).toEqual(await readLeft(alone));
    expect(left.events[0]!['told']).toHaveLength(7);
  });

  test('replace what was written before them, also where the first of them replaces nothing', async () => {
    const run = await callAll();
    const [job] = run.jobs;
    await database.asTenant(run.tenantId, async (tx) => {
      const place = { sessionId: job!.sessionId, jobId: job!.id };
      const chunk = { ...place, chainId: newId(), text: 'old', finishReason: 'stop' };
      const contributionId = await saveContribution(tx, chunk);
      const texts = { content: {}, body: null, page: null };
      await saveDocument(tx, {
        ...place,
        ...texts,
        planned: planned('b'),
        contributionId,
        version: 1,
      });
    });
    await Promise.all(run.jobs.map((one) => run.end(one, nameOf(one) === 'b' ? 2 : 1)));
    const documents = await database.asTenant(run.tenantId, (tx) =>
      tx.query(`select identity, version, superseded from documents order by identity, version`),
    );
    expect(documents).toEqual([
      { identity: 's/a', version: 1, superseded: false },
      { identity: 's/b', version: 1, superseded: true },
      { identity: 's/b', version: 2, superseded: false },
      { identity: 's/d', version: 1, superseded: false },
    ]);
  });

  test('are in the same order where the last of them leaves less', async () => {
    const run = await callAll();
    const [parts, whole] = [run.jobs.filter(isOfPart), run.jobs.filter((job) => !isOfPart(job))];
    await Promise.all([...whole, ...parts].map((job) => run.end(job)));
    const { statuses } = await readLeft(run);
    expect(new Set(Object.values(statuses))).toEqual(new Set(['completed']));
  });

  test('are saved and charged once without the one that lost its lease', async () => {
    const run = await callAll();
    const ends = run.jobs.map((job) =>
      run.end(nameOf(job) === 'b' ? { ...job, leaseToken: newId() } : job),
    );
    const failed = (await Promise.allSettled(ends)).filter(({ status }) => status === 'rejected');
    const jobId = run.jobs.find((job) => nameOf(job) === 'b')!.id;
    expect(failed).toMatchObject([{ reason: { code: 'lease_lost' } }]);
    expect((failed[0] as PromiseRejectedResult).reason.message).toContain(jobId);
    const { statuses, rows, accounts } = await readLeft(run);
    expect(statuses).toEqual({ a: 'completed', b: 'processing', c: 'completed', d: 'completed' });
    expect(rows.map((row) => row['status'])).toEqual(['received', 'sent', 'received', 'received']);
    const user = { kind: 'user', currency: 'USD', balance: -(10 + 14 + 16), held: 900 };
    expect(accounts).toContainEqual(expect.objectContaining({ ...user, entry_count: 3 }));
  });
});

const isOfPart = (job: Job): boolean => isPart(nameOf(job));
const nameOf = (job: Job): string => String(job.payload['name']);

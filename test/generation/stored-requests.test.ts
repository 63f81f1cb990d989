import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { splitRequest } from '../../src/documents/request-parts.ts';
import { readRequests } from '../../src/documents/requests.ts';
import { createHandlers } from '../../src/handlers/create-handlers.ts';
import type { ModelRequest } from '../../src/models/types.ts';
import { eraseProject } from '../../src/session/erase-project.ts';
import { startRun } from '../../src/session/start.ts';
import { untilRested, withWorker } from '../engine.ts';
import { shipped } from '../recipes/shipped.ts';
import { recordOffline } from '../session/partly.ts';
import { newTenant, openTestStore } from '../stores.ts';
import { watchTexts } from '../watch-texts.ts';

const config = { providers: {}, models: {} };
let database: Database;
let tenantId: string;
beforeAll(async () => {
  database = await openTestStore('server');
  ({ tenantId } = await newTenant(database));
});

/** Runs a debate whose answers are cut, and returns what its provider was sent. */
async function debate(name: string, model: string) {
  const brief = 'Should the library open on Sundays? Two staff, 9,000 euros a year.';
  const run = { name, brief, process: shipped('decision-memo'), models: [model] };
  const { sessionId, projectId } = await database.asTenant(tenantId, (tx) => startRun(tx, run));
  const { provider, asked: sent } = recordOffline();
  const rested = await withWorker(
    database,
    createHandlers({ database, provider, config }),
    (worker) => untilRested(worker, database, { tenantId, sessionId }),
  );
  expect(rested.status).toBe('completed');
  return { sent, sessionId, projectId };
}

const bytesOf = ({ system, messages }: Pick<ModelRequest, 'system' | 'messages'>): number =>
  [system, ...messages.map(({ content }) => content)].reduce(
    (sum, text) => sum + Buffer.byteLength(text),
    0,
  );

const plain = ({ system, messages }: Pick<ModelRequest, 'system' | 'messages'>): string =>
  JSON.stringify({ system, messages });

type Chain = { calls: string[]; bytes: number; parts: number };

/** By document: its calls, and the bytes and rows that their requests take. */
const readChains = (sessionId: string) =>
  database.asTenant(tenantId, (tx) =>
    tx.query<Chain>(
      `select (array_agg(distinct m.id::text)) as calls, count(*)::int as parts,
         (select sum(octet_length(b.body)) from blobs b where b.hash = any (
           array_agg(p.blob_hash)))::float8 as bytes
       from model_calls m join jobs j on j.tenant_id = m.tenant_id and j.id = m.job_id
       join call_parts p on p.tenant_id = m.tenant_id and p.call_id = m.id
       where m.session_id = $1 group by j.chain_id`,
      [sessionId],
    ),
  );

test('a document that goes on for ten turns stores each text once, and all requests whole', async () => {
  const { sent, sessionId, projectId } = await debate('Sundays', 'offline/builder?cut=90');
  const stored = await database.asTenant(tenantId, (tx) => readRequests(tx, sessionId));
  expect([...stored.values()].map(plain).toSorted()).toEqual(sent.map(plain).toSorted());

  const chains = await readChains(sessionId);
  const long = chains.filter(({ calls }) => calls.length >= 10);
  expect(long.length).toBeGreaterThan(0);
  for (const { calls, bytes, parts } of long) {
    const requests = calls.map((id) => stored.get(id)!);
    const last = requests.reduce((a, b) => (bytesOf(b) > bytesOf(a) ? b : a));
    const whole = requests.reduce((sum, one) => sum + bytesOf(one), 0);
    // No more than the last request, which holds all that the ones before it said.
    expect(bytes).toBeLessThanOrEqual(bytesOf(last));
    expect(parts).toBe(splitRequest(last).length);
    expect(whole).toBeGreaterThan(8 * bytes);
  }

  const other = await debate('Mondays', 'offline/builder');
  const before = await database.asTenant(tenantId, (tx) => readRequests(tx, other.sessionId));
  await database.asTenant(tenantId, (tx) => eraseProject(tx, projectId));
  const left = await database.asTenant(tenantId, (tx) => readRequests(tx, other.sessionId));
  expect(left).toEqual(before);
  const [{ unused } = { unused: -1 }] = await database.asTenant(tenantId, (tx) =>
    tx.query<{ unused: number }>(
      `select count(*)::int as unused from blobs b
       where b.body like '%Go on from exactly where it stopped%'`,
    ),
  );
  expect(unused).toBe(0);
}, 60_000);

test('a text that is stored is not sent again, until it is erased', async () => {
  ({ tenantId } = await newTenant(database));
  const watched = async (name: string) => {
    const sent = await watchTexts(database);
    const run = await debate(name, 'offline/builder');
    const begun = sent().filter((one) => one.includes('note-request'));
    const [{ system } = { system: '' }] = run.sent;
    expect(system.length).toBeGreaterThan(1_000);
    const [line = ''] = system.split('\n').toSorted((a, b) => b.length - a.length);
    return { ...run, times: begun.join('').split(line.replaceAll("'", "''")).length - 1 };
  };
  const first = await watched('Tuesdays');
  const second = await watched('Wednesdays');
  expect([first.times > 0, second.times]).toEqual([true, 0]);

  for (const { projectId } of [first, second]) {
    await database.asTenant(tenantId, (tx) => eraseProject(tx, projectId));
  }
  const third = await watched('Thursdays');
  expect(third.times).toBeGreaterThan(0);
  const stored = await database.asTenant(tenantId, (tx) => readRequests(tx, third.sessionId));
  expect([...stored.values()].map(plain).toSorted()).toEqual(third.sent.map(plain).toSorted());
}, 60_000);

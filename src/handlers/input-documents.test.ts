import { expect, test } from 'vitest';
import { processOf, stage, step } from '../../test/recipes/build.ts';
import { newTenant, openTestStore } from '../../test/stores.ts';
import { startRun } from '../session/start.ts';
import { readInputDocuments } from './input-documents.ts';

const write = step('write', 'PLAN', 'all_to_one', 'draft', ['seed:draft/']);
const process = processOf('drafts', [stage('draft', [write])]);

test('a document that was read is not read again, and belongs to its tenant', async () => {
  const database = await openTestStore('server');
  const { tenantId } = await newTenant(database);
  const run = { name: 'Drafts', brief: 'Write of bread.', process, models: ['offline/builder'] };
  const { sessionId } = await database.asTenant(tenantId, (tx) => startRun(tx, run));
  const { id } = await database.asTenant(tenantId, (tx) =>
    tx.queryOne<{ id: string }>('select id from documents where session_id = $1', [sessionId]),
  );
  const planned = { inputs: [{ name: 'seed', ids: [id] }] };
  const asked: string[] = [];
  const readsOf = (tenant: string) => {
    const reads = database.readsOf(tenant);
    const query: typeof reads.query = (text, values, name) => {
      asked.push(`${tenant} ${name}`);
      return reads.query(text, values, name);
    };
    return { tenantId: tenant, query, queryOne: reads.queryOne.bind(reads) };
  };
  for (let times = 0; times < 2; times++) {
    const found = await readInputDocuments(database, readsOf(tenantId), planned);
    expect(found.get(id)?.body).toContain('Write of bread.');
  }
  expect(asked).toEqual([`${tenantId} read-inputs`]);

  const stranger = await newTenant(database);
  expect((await readInputDocuments(database, readsOf(stranger.tenantId), planned)).size).toBe(0);
});

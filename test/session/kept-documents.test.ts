import { expect, test } from 'vitest';
import { LocalDialectic } from '../../src/api/dialectic.ts';
import type { TenantQueries } from '../../src/db/transaction.ts';
import { readInputDocuments } from '../../src/handlers/input-documents.ts';
import { readOrigin } from '../../src/handlers/origins.ts';
import { DEFAULT_JOB_SETTINGS } from '../../src/jobs/settings.ts';
import { readModelsConfig } from '../../src/models/config.ts';
import { emptyStore, newTenant, openStore } from '../stores.ts';

const asksNothing = (tenantId: string): TenantQueries => {
  const query = async (text: string): Promise<never> => {
    throw new Error(`Was asked: ${text}`);
  };
  return { tenantId, query, queryOne: query };
};

test('who made a document knows it as it is stored, without asking', async () => {
  const place = await emptyStore('server');
  const [maker, reader] = [await openStore(place), await openStore(place)];
  const { tenantId } = await newTenant(maker);
  const models = readModelsConfig({}, {});
  const log = (): void => {};
  const store = { database: maker, tenantId, models, jobs: DEFAULT_JOB_SETTINGS, log };
  const dialectic = new LocalDialectic(store);
  const { session } = await dialectic.start({
    brief: 'A bakery takes orders for cakes by telephone. Three people, one oven.',
    models: ['offline/builder', 'offline/skeptic'],
    until: 'antithesis',
  });
  for await (const _ of dialectic.work(session));

  const made = await reader.asTenant(tenantId, (tx) =>
    tx.query<{ id: string; contribution: string; step: string }>(
      `select id, contribution_id as contribution, step_key as step from documents
       where session_id = $1 and contribution_id is not null`,
      [session],
    ),
  );
  expect(new Set(made.map(({ step }) => step))).toContain('thesis_collect_demands');
  const planned = { inputs: [{ name: 'all', ids: made.map(({ id }) => id) }] };
  const kept = await readInputDocuments(maker, asksNothing(tenantId), planned);
  const stored = await readInputDocuments(reader, reader.readsOf(tenantId), planned);
  expect(kept.size).toBe(made.length);
  expect(new Map(kept)).toEqual(new Map(stored));
  expect(JSON.stringify([...kept.values()].map(({ content }) => content))).toBe(
    JSON.stringify([...kept.keys()].map((id) => stored.get(id)?.content)),
  );
  const groups = [...stored.values()].map((row) => row.source_group);
  expect(new Set(groups).size).toBeGreaterThan(1);
  for (const sourceGroup of groups) {
    expect(await readOrigin(maker, asksNothing(tenantId), { sourceGroup })).toBe(
      await readOrigin(reader, reader.readsOf(tenantId), { sourceGroup }),
    );
  }
});

import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { loadRecipe, saveRecipe } from '../../src/session/recipe-store.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';
import { shipped } from './trivial.ts';

describeOnBoth('stored recipes', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await openTestStore(kind);
  });

  test('share their stages, so that what was made of one serves the others', async () => {
    const memo = shipped('decision-memo');
    const { tenantId } = await newTenant(database);
    const load = (hash: string) => database.asTenant(tenantId, (tx) => loadRecipe(tx, hash));
    const saved = await database.asTenant(tenantId, async (tx) => [
      await saveRecipe(tx, memo),
      await saveRecipe(tx, { ...memo, key: 'other' }),
    ]);
    const [first, second] = [await load(saved[0]!.hash), await load(saved[1]!.hash)];
    expect([first, second]).toEqual(saved.map(({ process }) => process));
    expect(first).toEqual(memo);
    expect(second.key).toBe('other');
    for (const [at, stage] of first.stages.entries()) expect(second.stages[at]).toBe(stage);
  });

  test('belong to their tenant', async () => {
    const [one, other] = [await newTenant(database), await newTenant(database)];
    const { hash } = await database.asTenant(one.tenantId, (tx) =>
      saveRecipe(tx, shipped('decision-memo')),
    );
    await database.asTenant(one.tenantId, (tx) => loadRecipe(tx, hash));
    const loading = database.asTenant(other.tenantId, (tx) => loadRecipe(tx, hash));
    await expect(loading).rejects.toMatchObject({ code: 'not_found' });
  });
});

import { beforeAll, expect, test, vi } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import type { Contract, Process } from '../../src/recipe/types.ts';
import { loadRecipe, saveRecipe } from '../../src/session/recipe-store.ts';
import { storeRoles } from '../store-roles.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';
import { shipped } from './trivial.ts';

type Version = Parameters<typeof loadRecipe>[1];

/** The module as a process that has just begun has it. */
async function anotherProcess() {
  vi.resetModules();
  return import('../../src/session/recipe-store.ts');
}

function withSectionsReversed(process: Process): Process {
  const reverse = (contract: Contract): Contract => ({
    ...contract,
    properties: Object.fromEntries(Object.entries(contract.properties).toReversed()),
  });
  const stages = process.stages.map((stage) => ({
    ...stage,
    contracts: mapValues(stage.contracts, reverse),
  }));
  return { ...process, stages };
}

const mapValues = <Value>(record: Readonly<Record<string, Value>>, map: (value: Value) => Value) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));

const sectionsOf = ({ stages }: Process): string[] =>
  stages.flatMap(({ contracts }) =>
    Object.values(contracts).map(({ properties }) => Object.keys(properties).join()),
  );

describeOnBoth('stored recipes', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await openTestStore(kind);
  });

  test('share their stages, so that what was made of one serves the others', async () => {
    const memo = shipped('decision-memo');
    const { tenantId } = await newTenant(database);
    const load = (version: Version) => database.asTenant(tenantId, (tx) => loadRecipe(tx, version));
    const saved = await database.asTenant(tenantId, async (tx) => [
      await saveRecipe(tx, memo),
      await saveRecipe(tx, { ...memo, key: 'other' }),
    ]);
    const [first, second] = [await load(saved[0]!), await load(saved[1]!)];
    // What a start has worked out for a process serves the run in the same process.
    expect(first).toBe(saved[0]!.process);
    expect(second).toBe(saved[1]!.process);
    expect(first).toEqual(memo);
    expect(second.key).toBe('other');
    for (const [at, stage] of first.stages.entries()) expect(second.stages[at]).toBe(stage);
  });

  test('are read in another process as they were saved in the first, sections in their order', async () => {
    const memo = shipped('decision-memo');
    const { tenantId } = await newTenant(database);
    const save = async (process: Process) => {
      const { saveRecipe: saveIt } = await anotherProcess();
      return database.asTenant(tenantId, (tx) => saveIt(tx, process));
    };
    const first = await save(memo);
    // The hash does not tell the order.
    const reordered = await save(withSectionsReversed(memo));
    expect(reordered.hash).toBe(first.hash);
    expect(reordered.savedBy).toBe(first.savedBy);
    const { loadRecipe: loadIt } = await anotherProcess();
    const read = await database.asTenant(tenantId, (tx) => loadIt(tx, first));
    expect(read).toEqual(memo);
    for (const one of [first.process, reordered.process, read]) {
      expect(sectionsOf(one)).toEqual(sectionsOf(memo));
    }
  });

  test('have the order of sections that is stored, whatever was rolled back before', async () => {
    const memo = shipped('decision-memo');
    const [first, second] = [memo, withSectionsReversed(memo)];
    const { tenantId } = await newTenant(database);
    const { saveRecipe: saveIt, loadRecipe: loadIt } = await anotherProcess();
    const load = (version: Version, by = loadIt) =>
      database.asTenant(tenantId, (tx) => by(tx, version));
    const undone = database.asTenant(tenantId, async (tx) => {
      await saveIt(tx, first);
      // Another version with the same stages.
      await saveIt(tx, { ...first, key: 'other' });
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    for (const key of [memo.key, 'other']) {
      const saved = await database.asTenant(tenantId, (tx) => saveIt(tx, { ...second, key }));
      const { loadRecipe: loadElsewhere } = await anotherProcess();
      for (const one of [saved.process, await load(saved), await load(saved, loadElsewhere)]) {
        expect(sectionsOf(one)).toEqual(sectionsOf(second));
      }
    }
  });

  test('have the stored order where another process saved one after a rollback', async () => {
    const memo = shipped('decision-memo');
    const { tenantId } = await newTenant(database);
    const { saveRecipe: saveHere, loadRecipe: loadHere } = await anotherProcess();
    const { saveRecipe: saveElsewhere } = await anotherProcess();
    const undone = database.asTenant(tenantId, async (tx) => {
      await saveHere(tx, memo);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    const other = withSectionsReversed(memo);
    const saved = await database.asTenant(tenantId, (tx) => saveElsewhere(tx, other));
    const loaded = await database.asTenant(tenantId, (tx) => loadHere(tx, saved));
    expect(sectionsOf(loaded)).toEqual(sectionsOf(other));
    const { process } = await database.asTenant(tenantId, (tx) => saveHere(tx, memo));
    expect(sectionsOf(process)).toEqual(sectionsOf(other));
  });

  test('have the order that is stored, whatever was erased before', async () => {
    const memo = shipped('decision-memo');
    const { tenantId } = await newTenant(database);
    const { saveRecipe: saveHere, loadRecipe: loadHere } = await anotherProcess();
    const { saveRecipe: saveElsewhere } = await anotherProcess();
    const erased = await database.asTenant(tenantId, (tx) => saveHere(tx, memo));
    await database.transaction({ as: 'owner' }, async (tx) => {
      for (const table of ['recipe_versions', 'recipe_stages'])
        await tx.query(`delete from ${table} where tenant_id = $1`, [tenantId]);
    });
    const other = withSectionsReversed(memo);
    const saved = await database.asTenant(tenantId, (tx) => saveElsewhere(tx, other));
    expect(saved.hash).toBe(erased.hash);
    const loaded = await database.asTenant(tenantId, (tx) => loadHere(tx, saved));
    expect(sectionsOf(loaded)).toEqual(sectionsOf(other));
  });

  test('are saved where the server refuses MD5, as one in FIPS mode does', async () => {
    const { app } = await storeRoles(database);
    await database.transaction({ as: 'owner' }, async (tx) => {
      await tx.query('create schema fips');
      await tx.query(
        `create function fips.md5(text) returns text language plpgsql as
         $$ begin raise exception 'could not compute MD5 hash: unsupported'; end $$`,
      );
      await tx.query(`grant usage on schema fips to ${app}`);
    });
    const memo = shipped('decision-memo');
    const { tenantId } = await newTenant(database);
    const saved = await database.asTenant(tenantId, async (tx) => {
      await tx.query('set local search_path = fips, pg_catalog, public');
      return saveRecipe(tx, memo);
    });
    expect(saved.process).toEqual(memo);
  });

  test('belong to their tenant', async () => {
    const [one, other] = [await newTenant(database), await newTenant(database)];
    const saved = await database.asTenant(one.tenantId, (tx) =>
      saveRecipe(tx, shipped('decision-memo')),
    );
    await database.asTenant(one.tenantId, (tx) => loadRecipe(tx, saved));
    const loading = database.asTenant(other.tenantId, (tx) => loadRecipe(tx, saved));
    await expect(loading).rejects.toMatchObject({ code: 'not_found' });
  });
});

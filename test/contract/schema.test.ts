import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { digestFunctions, readSchemaFiles } from '../../src/db/schema-files.ts';
import { describeOnBoth, openTestStore } from '../stores.ts';
import { dumpSchema } from './dump-schema.ts';

test('functions that changed have an edition of their own', () => {
  const { functions, edition } = readSchemaFiles();
  const listed = readFileSync(new URL('./function-editions.txt', import.meta.url), 'utf8');
  const remedy =
    'A file in src/db/functions changed: raise EDITION in src/db/schema-files.ts by 1 and add ' +
    'the new line to the end of test/contract/function-editions.txt.';
  expect(listed.trim().split('\n').at(-1), remedy).toBe(`${edition} ${digestFunctions(functions)}`);
});

describeOnBoth('the schema', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await openTestStore(kind);
  });

  test('is the committed one', async () => {
    await expect(await dumpSchema(database)).toMatchFileSnapshot('./schema.sql');
  });
});

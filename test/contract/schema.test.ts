import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { describeOnBoth, openTestStore } from '../stores.ts';
import { dumpSchema } from './dump-schema.ts';

describeOnBoth('the schema', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await openTestStore(kind);
  });

  test('is the committed one', async () => {
    await expect(await dumpSchema(database)).toMatchFileSnapshot('./schema.sql');
  });
});

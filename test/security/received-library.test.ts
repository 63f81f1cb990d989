import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/db/open.ts';
import { emptyDirectory, temporaryFolder } from '../stores.ts';
import { hostileLibrary } from './hostile-library.ts';

describe('a library that a database names', () => {
  const name = async (directory: string): Promise<string> => {
    const proof = join(await temporaryFolder(), 'ran');
    const script = `globalThis.process.getBuiltinModule('fs').writeFileSync('${proof}','')`;
    writeFileSync(join(directory, 'pgdata/base/hostile.so'), hostileLibrary(script));
    return proof;
  };

  test.each(['shared_preload_libraries', 'session_preload_libraries'])(
    'in %s is not loaded',
    async (setting) => {
      const dataDirectory = await emptyDirectory();
      const proof = await name(dataDirectory);
      const line = `${setting} = '/pglite/data/base/hostile'\n`;
      for (const file of ['postgresql.conf', 'postgresql.auto.conf']) {
        appendFileSync(join(dataDirectory, `pgdata/${file}`), line);
      }
      await (await openDatabase({ dataDirectory }, { backupEveryMs: 0 })).close();
      expect(existsSync(proof)).toBe(false);
    },
  );

  test('by a statement or a function of its catalog is refused', async () => {
    const dataDirectory = await emptyDirectory();
    const proof = await name(dataDirectory);
    const database = await openDatabase({ dataDirectory }, { backupEveryMs: 0 });
    for (const statement of [
      "load '/pglite/data/base/hostile'",
      "create function hostile() returns int language c as '/pglite/data/base/hostile', 'x'",
    ]) {
      const loading = database.transaction({ as: 'owner' }, (tx) => tx.query(statement));
      await expect(loading).rejects.toThrow();
    }
    await database.close();
    expect(existsSync(proof)).toBe(false);
  });

  test('does not keep the store from its own libraries', async () => {
    const dataDirectory = await emptyDirectory();
    const database = await openDatabase({ dataDirectory }, { backupEveryMs: 0 });
    const [row] = await database.transaction({ as: 'owner' }, (tx) =>
      tx.query<{ text: string; fsync: string }>(
        `select to_tsvector('english', 'foxes')::text || ('[1,2]'::vector <-> '[1,2]')::text as text,
           current_setting('fsync') as fsync`,
      ),
    );
    await database.close();
    expect(row).toEqual({ text: "'fox':10", fsync: 'on' });
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/db/open.ts';
import { emptyStore } from '../stores.ts';
import { refuseSecondOpeners } from './directory-lock.ts';
import { startScript } from './processes.ts';

test('20 second openers are refused by name, and the holder loses nothing', async () => {
  const { dataDirectory } = (await emptyStore('embedded')) as { dataDirectory: string };
  await refuseSecondOpeners(dataDirectory, 20);
});

test('two that open at the same time: exactly one gets the directory', async () => {
  const { dataDirectory } = (await emptyStore('embedded')) as { dataDirectory: string };
  for (let round = 0; round < 3; round++) {
    const openers = [1, 2, 3].map((n) => startScript('writer.ts', dataDirectory, String(n), '1'));
    const codes = await Promise.all(openers.map((opener) => opener.ended));
    expect(codes.toSorted((a, b) => a! - b!)).toEqual([0, 3, 3]);
    await sleep(10);
  }
});

test('the lock of this process cannot be taken a second time within it', async () => {
  const location = await emptyStore('embedded');
  const database = await openDatabase(location, { backupEveryMs: 0 });
  const again = openDatabase(location);
  await expect(again).rejects.toMatchObject({
    code: 'data_directory_locked',
    details: { pid: process.pid },
  });
  await database.close();
  await (await openDatabase(location, { backupEveryMs: 0 })).close();
});

import { expect, test } from 'vitest';
import { openDatabase } from '../../src/db/open.ts';
import { emptyStore } from '../stores.ts';
import { refuseSecondOpeners } from './directory-lock.ts';
import { startScript } from './processes.ts';

const isOpen = (line: string): boolean => line === 'open';

test('4 second openers are refused by name, and the holder loses nothing', async () => {
  const { dataDirectory } = (await emptyStore('embedded')) as { dataDirectory: string };
  await refuseSecondOpeners(dataDirectory, 4);
});

test('three that open at the same time: exactly one gets the directory', async () => {
  const { dataDirectory } = (await emptyStore('embedded')) as { dataDirectory: string };
  for (let round = 0; round < 2; round++) {
    const openers = [1, 2, 3].map(() => startScript('writer.ts', dataDirectory));
    // The one that has it keeps it until the others have ended, however long their start takes.
    const winner = await Promise.any(openers.map((one) => one.line(isOpen).then(() => one)));
    const refused = openers.filter((one) => one !== winner).map(({ ended }) => ended);
    expect(await Promise.all(refused)).toEqual([3, 3]);
    winner.child.kill('SIGKILL');
    expect(await winner.ended).toBe(null);
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

import { test } from 'vitest';
import { emptyStore } from '../stores.ts';
import { refuseSecondOpeners } from './directory-lock.ts';

test('100 second openers are refused by name, and the holder loses nothing', async () => {
  const { dataDirectory } = (await emptyStore('embedded')) as { dataDirectory: string };
  await refuseSecondOpeners(dataDirectory, 100);
});

import { expect, test } from 'vitest';
import { emptyStore } from '../stores.ts';
import { killWriter } from './kill-writer.ts';

test('3 kills of a writing process lose no acknowledged commit', async () => {
  const location = await emptyStore('embedded');
  const { dataDirectory } = location as { dataDirectory: string };
  expect(await killWriter(dataDirectory, 3, 42)).toBeGreaterThanOrEqual(6);
});

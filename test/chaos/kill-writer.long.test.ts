import { expect, test } from 'vitest';
import { emptyStore } from '../stores.ts';
import { killWriter } from './kill-writer.ts';

test('200 kills of a writing process lose no acknowledged commit', async () => {
  const location = await emptyStore('embedded');
  const { dataDirectory } = location as { dataDirectory: string };
  const written = await killWriter(dataDirectory, 200, 7);
  console.log(`${written} transactions survived 200 kills`);
  expect(written).toBeGreaterThan(200);
});

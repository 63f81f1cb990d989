import { expect, test } from 'vitest';
import { joinBytes } from './join-bytes.ts';

test('bytes are joined in order, in memory that holds nothing else', () => {
  const pooled = [Buffer.from('select '), Buffer.from(''), Buffer.from('1')];
  expect(pooled[0]!.buffer.byteLength).toBeGreaterThan(100);
  const joined = joinBytes(pooled);
  expect(Buffer.from(joined).toString()).toBe('select 1');
  expect(joined.buffer.byteLength).toBe(8);
  expect(joinBytes([]).length).toBe(0);
});

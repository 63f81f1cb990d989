import { expect, test } from 'vitest';
import { shareWork } from './share-work.ts';

const texts = new Map([['digest', 'A text.']]);

test('a job that waits for the texts of another ends with its own signal', async () => {
  const embedding = Promise.withResolvers<void>();
  const first = shareWork('owner', texts, () => embedding.promise);
  const stop = new AbortController();
  const asked: string[] = [];
  const second = shareWork(
    'owner',
    texts,
    async (own) => void asked.push(...own.keys()),
    stop.signal,
  );
  stop.abort(new Error('paused'));
  await expect(second).rejects.toThrow('paused');
  // The one that embeds goes on, and a third job waits for it.
  const third = shareWork('owner', texts, async (own) => void asked.push(...own.keys()));
  embedding.resolve();
  await Promise.all([first, third]);
  expect(asked).toEqual([]);
});

test('a job embeds the texts itself where the one that it waited for failed', async () => {
  const embedding = Promise.withResolvers<void>();
  const first = shareWork('owner', texts, () => embedding.promise);
  const asked: string[] = [];
  const second = shareWork('owner', texts, async (own) => void asked.push(...own.keys()));
  embedding.reject(new Error('no money'));
  await expect(first).rejects.toThrow('no money');
  await second;
  expect(asked).toEqual(['digest']);
});

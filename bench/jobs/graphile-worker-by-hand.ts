import type { EngineModule } from './engine.ts';
import { DONE, openGraphile, type Query } from './graphile-worker.ts';

/**
 * graphile-worker as someone who measures would have it: the children's own rows are written in
 * groups as well, gathered by hand while the last write is under way.
 */
const open: EngineModule['open'] = (url, isFirst) => {
  let waiting: { id: string; done: () => void }[] = [];
  let isWriting = false;

  const write = async (query: Query): Promise<void> => {
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      await query(DONE, [group.map(({ id }) => id)]);
      for (const { done } of group) done();
    }
    isWriting = false;
  };
  return openGraphile(url, isFirst, (id, query) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push({ id, done: resolve });
    if (!isWriting) {
      isWriting = true;
      setImmediate(() => void write(query));
    }
    return promise;
  });
};

export default { open } satisfies EngineModule;

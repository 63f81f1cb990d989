import { expect, test } from 'vitest';
import { loadTokenCounter } from '../../src/models/tokens.ts';
import { newProject, openTestStore } from '../stores.ts';
import { fitInto, toAssembly } from './fit-any.ts';

const CANDIDATES = 500;

/** Documents of so many characters together, no two of them alike. */
const documentsOf = (characters: number): string[] =>
  Array.from({ length: CANDIDATES }, (_, at) => {
    const lines: string[] = [];
    for (let length = 0; length < characters / CANDIDATES; length += lines.at(-1)!.length) {
      lines.push(
        `Oven ${lines.length} of bakery ${at} burns ${at * 7} logs on a cold morning.\n\n`,
      );
    }
    return lines.join('');
  });

test('fitting 500 candidates tokenises a number of characters that grows as they do', async () => {
  const database = await openTestStore('server');
  const { tenantId, projectId } = await newProject(database);
  const counter = await loadTokenCounter();
  const shareOf = async (characters: number): Promise<number> => {
    const documents = documentsOf(characters);
    const prompt = { brief: 'Bake.', documents, feedback: null, written: [], kind: null };
    const assembled = toAssembly({ ...prompt, windowTokens: 1 }, projectId);
    const before = counter.tokenised;
    // About half of what the documents take, with the tags around them.
    const fitted = await fitInto(database, tenantId, assembled, characters / 8 + 30_000);
    expect(fitted.shortened.length).toBeGreaterThan(CANDIDATES / 10);
    return (counter.tokenised - before) / documents.join('').length;
  };
  const [small, large] = [await shareOf(1e5), await shareOf(2.5e5)];
  expect(small).toBeGreaterThan(1);
  expect(small).toBeLessThan(10);
  expect(large).toBeLessThan(1.2 * small);
}, 60_000);

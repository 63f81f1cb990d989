import { vi } from 'vitest';
import type { Database } from '../src/db/database.ts';

/** Notes the text of each round trip that the store's connections make from now on. */
export async function watchTexts({ driver }: Database): Promise<() => string[]> {
  const held = await driver.acquire();
  const { constructor } = held.client;
  held.release();
  const spy = vi.spyOn(constructor.prototype as { query(...given: unknown[]): unknown }, 'query');
  const textOf = ([first]: unknown[]): string =>
    typeof first === 'string' ? first : ((first as { text?: string } | undefined)?.text ?? '');
  return () => {
    const texts = spy.mock.calls.map(textOf);
    spy.mockRestore();
    return texts;
  };
}

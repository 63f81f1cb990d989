import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { SourceRegistry } from '../../src/sources/registry.ts';

/** Cuts a log of these texts at every byte: what is whole keeps its id, and the log goes on. */
export async function cutEverywhere(folder: string, texts: readonly string[]): Promise<void> {
  const [made, cut] = ['made', 'cut'].map((name) => join(folder, name)) as [string, string];
  const registry = await SourceRegistry.open(made);
  const ends: number[] = [];
  for (const [at, text] of texts.entries()) {
    const { id } = await registry.register({ title: `T${at}`, excerpts: [text] });
    expect(id).toBe(`S${at + 1}`);
    ends.push(readFileSync(join(made, 'sources.log')).length);
  }
  await registry.close();
  const whole = readFileSync(join(made, 'sources.log'));
  mkdirSync(cut);
  for (let length = 0; length <= whole.length; length++) {
    writeFileSync(join(cut, 'sources.log'), whole.subarray(0, length));
    const reopened = await SourceRegistry.open(cut);
    const left = ends.filter((end) => end <= length).length;
    expect([...reopened].map(({ excerpts }) => excerpts)).toEqual(
      texts.slice(0, left).map((text) => [text]),
    );
    const { id } = await reopened.register({ title: 'Next', excerpts: ['Next.'] });
    expect(id).toBe(`S${left + 1}`);
    await reopened.close();
    if (length % 16 > 0) continue;
    const again = await SourceRegistry.open(cut);
    expect(again.get(id)?.title).toBe('Next');
    await again.close();
  }
}

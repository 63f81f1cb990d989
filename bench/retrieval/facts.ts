import { readFileSync } from 'node:fs';

/** A fact that stands once in all documents: what a prompt asks, what is said, what must survive. */
export type Fact = { readonly topic: string; readonly said: string; readonly key: string };

/** Sixty facts of a bakery: numbers, names, dissent. */
export const FACTS: readonly Fact[] = readFileSync(new URL('facts.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => {
    const [topic = '', said = '', key = ''] = line.split('|');
    return { topic, said, key };
  });

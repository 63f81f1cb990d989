import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { countNoun } from './count-noun.ts';

test('one is told apart from many', () => {
  expect([0, 1, 2, 1_200].map((count) => countNoun(count, 'call'))).toEqual([
    '0 calls',
    '1 call',
    '2 calls',
    '1,200 calls',
  ]);
  expect(countNoun(1, 'step reads', 'steps read')).toBe('1 step reads');
});

const NOUNS =
  'answers|bytes|calls|conflicts|days|documents|files|jobs|judges|lines|models|notices|' +
  'participants|projects|questions|requests|sessions|stages|steps|words|workers';

/** Counts that are two or more by what the code before them asks, or that have no singular. */
const NEVER_ONE = [
  'found.length', // several candidates for one name
  'own.length',
  'rows.length',
  'MOST_',
  'most', // a limit
  'limits.',
  'size', // too large
  'entry.size',
  'job.type',
  'model', // "MODEL answers"
  'provider',
  'written', // of words, which a document has many of
  'words',
];

test('every count of a message goes through it', () => {
  const root = join(import.meta.dirname, '..');
  const loose = globSync('**/*.ts', { cwd: root })
    .filter((path) => !/\.(test|fixture)\.ts$/.test(path))
    .flatMap((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      const counts = text.matchAll(new RegExp(`\\$\\{([^{}]*)\\} (${NOUNS})\\b`, 'g'));
      return [...counts].map(([all, count]) => ({ all, count: count!, path }));
    })
    .filter(({ count }) => !NEVER_ONE.some((known) => count.startsWith(known)))
    .map(({ path, all }) => `${path}: ${all}`);
  expect(loose).toEqual([]);
});

import { expect, test } from 'vitest';
import { createFreeNames } from './free-names.ts';

test('a name that was given out gets a digest before its ending', () => {
  const free = createFreeNames();
  expect(free('T-1.md', 'T/1')).toBe('T-1.md');
  expect(free('T-1.md', 'T-1')).toMatch(/^T-1~[0-9a-f]{10}\.md$/);
  expect(free('kind/x', 'one')).toBe('kind/x');
  expect(free('kind/x', 'one')).toMatch(/^kind\/x~[0-9a-f]{10}$/);
});

test('no two names are one file, whatever the file system takes for equal', () => {
  const free = createFreeNames();
  const names = ['a.md', 'A.md', '\u00e9.md', 'e\u0301.md', 'a.md', 'a.md', 'a.md'].map((name) =>
    free(name, 'the same'),
  );
  expect(new Set(names.map((name) => name.normalize('NFKC').toLowerCase())).size).toBe(7);
});

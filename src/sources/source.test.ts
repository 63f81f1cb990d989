import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isMore, mergeDrafts, type SourceDraft } from './source.ts';

const word = fc.constantFrom('', 'a', 'b');
const draft: fc.Arbitrary<SourceDraft> = fc.record(
  {
    title: word,
    author: word,
    publisher: word,
    year: fc.constantFrom(2023, 2024),
    degraded: fc.constantFrom('no answer', 'gone'),
    excerpts: fc.uniqueArray(word, { maxLength: 3 }),
  },
  { requiredKeys: ['title', 'excerpts'] },
);

test('a draft tells more where the two merged say more than the known one', () => {
  fc.assert(
    fc.property(draft, draft, (known, found) => {
      const before = mergeDrafts(known, known);
      const merged = mergeDrafts(known, found);
      expect(isMore(known, found)).toBe(
        JSON.stringify(sorted(merged)) !== JSON.stringify(sorted(before)),
      );
    }),
  );
});

test('what could not be read before has the title of the page that was', () => {
  const url = 'https://example.org/bread';
  const before = { title: url, url, author: 'A. Baker', excerpts: [], degraded: 'no answer' };
  const read = { title: 'Bread', url, author: '', excerpts: ['Sour dough rises.'] };
  const { degraded: _, ...known } = before;
  expect(mergeDrafts(before, read)).toEqual({ ...known, title: 'Bread', excerpts: read.excerpts });
  expect(mergeDrafts(read, before)).toEqual({ ...read, author: 'A. Baker' });
});

const sorted = (one: SourceDraft): [string, unknown][] =>
  Object.entries(one).toSorted(([a], [b]) => a.localeCompare(b));

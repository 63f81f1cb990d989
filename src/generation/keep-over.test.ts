import { expect, test } from 'vitest';
import { keepOver } from './keep-over.ts';

const entry = (document_key: string, said: string | Record<string, string>) => ({
  document_key,
  content_to_include: said,
});

test('a later section holds, and the guidance of a plan is kept entry by entry', () => {
  const earlier = { notes: 'old', scope: 'kept', context_for_documents: [entry('case', 'old')] };
  const later = { notes: 'new', context_for_documents: [entry('spec', 's'), entry('case', 'new')] };
  expect(keepOver(earlier, later)).toEqual({
    notes: 'new',
    scope: 'kept',
    context_for_documents: [entry('spec', 's'), entry('case', 'new')],
  });
  const one = { context_for_documents: [entry('spec', 's')] };
  expect(keepOver(earlier, one)['context_for_documents']).toEqual([
    entry('case', 'old'),
    entry('spec', 's'),
  ]);
});

test('pieces of one section or entry are joined, and what is written again holds alone', () => {
  const earlier = {
    notes: { scope: 'old', risks: 'old' },
    context_for_documents: [entry('case', { summary: 's' })],
  };
  expect(keepOver(earlier, { notes: { budget: 'new' } })['notes']).toEqual({
    scope: 'old',
    risks: 'old',
    budget: 'new',
  });
  expect(keepOver(earlier, { notes: { scope: 'new' } })['notes']).toEqual({ scope: 'new' });
  const more = { context_for_documents: [entry('case', { risks: 'r' })] };
  expect(keepOver(earlier, more)['context_for_documents']).toEqual([
    entry('case', { summary: 's', risks: 'r' }),
  ]);
});

test('an entry that came in pieces and says nothing is left out', () => {
  const earlier = { context_for_documents: [entry('case', { a: '' }), entry('spec', { a: 'b' })] };
  const later = { context_for_documents: [entry('risk', {})] };
  expect(keepOver(earlier, later)['context_for_documents']).toEqual([entry('spec', { a: 'b' })]);
});

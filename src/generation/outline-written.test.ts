import { expect, test } from 'vitest';
import { findComplete } from './outline-written.ts';

test('what stands before the place of a cut is whole, the section of the cut is not', () => {
  const sections = ['scope', 'risks', 'budget', 'owners'];
  expect(findComplete('{"scope": "All", "risks": ["One", "Tw', sections)).toEqual(['scope']);
  expect(findComplete('{"content": {"scope": 1, "risks": 2, "bud', sections)).toEqual([
    'scope',
    'risks',
  ]);
  expect(findComplete('{"scope": "Al', sections)).toEqual([]);
  expect(findComplete('Here is', sections)).toEqual([]);
});

test('the guidance of a plan is whole entry by entry', () => {
  const entry = (key: string): string =>
    `{"document_key": "${key}", "content_to_include": {"a": "b"}}`;
  const text = `{"notes": "n", "context_for_documents": [${entry('case')}, ${entry('spec')}, {"docum`;
  const asked = ['notes', ...['case', 'spec', 'risk'].map((key) => `context_for_documents#${key}`)];
  expect(findComplete(text, asked)).toEqual(asked.slice(0, 3));
});

test('a piece of a section or entry is whole where that is', () => {
  const asked = ['notes#scope', 'notes#risks', 'plan#weeks'];
  const text = '{"notes": {"scope": "All", "risks": "None"}, "plan": {"weeks": 1';
  expect(findComplete(text, asked)).toEqual(['notes#scope', 'notes#risks']);
});

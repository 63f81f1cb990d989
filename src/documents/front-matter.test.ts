import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { splitFrontMatter, withFrontMatter } from './front-matter.ts';

test('facts come first, in their order, and the text after them', () => {
  const source = withFrontMatter(
    { model: 'openai/gpt-5', inputs: ['a', 'b'], cost_micros: 12 },
    '# T\n',
  );
  expect(source).toBe(
    '---\nmodel: openai/gpt-5\ninputs:\n  - a\n  - b\ncost_micros: 12\n---\n\n# T\n',
  );
});

test('any facts and any text come back as they were', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { noNullPrototype: true }),
      fc.string({ unit: 'grapheme' }),
      (facts, text) => {
        const plain = JSON.parse(JSON.stringify(facts)) as Record<string, unknown>;
        expect(splitFrontMatter(withFrontMatter(plain, `# T\n${text}`))).toEqual({
          facts: plain,
          text: `# T\n${text}`,
        });
      },
    ),
    { numRuns: 1_000 },
  );
});

test('a text without facts, or with a rule at its top, is all text', () => {
  expect(splitFrontMatter('# T')).toEqual({ facts: {}, text: '# T' });
  expect(splitFrontMatter('---\n# T')).toEqual({ facts: {}, text: '---\n# T' });
});

test('broken facts are named, and references to themselves are refused', () => {
  expect(() => splitFrontMatter('---\na: [\n---\n')).toThrow('YAML');
  expect(() => splitFrontMatter('---\na: &x [1]\nb: *x\n---\n')).toThrow('YAML');
});

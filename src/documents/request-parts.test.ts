import fc from 'fast-check';
import { expect, test } from 'vitest';
import { joinParts, splitRequest } from './request-parts.ts';

const text = fc
  .array(
    fc.oneof(fc.string(), fc.constantFrom('\n\n', '<document label="A">', '\n', '</document>')),
  )
  .map((pieces) => pieces.join(''));
const message = fc.record({
  role: fc.constantFrom('user' as const, 'assistant' as const),
  content: text,
});

test('the parts of any request give it back byte for byte', () => {
  fc.assert(
    fc.property(text, fc.array(message), (system, messages) => {
      expect(joinParts(splitRequest({ system, messages }))).toEqual({ system, messages });
    }),
    { numRuns: 1_000 },
  );
});

test('a part begins with each block of a document, feedback, resource or source', () => {
  const piece = fc.constantFrom(
    ...['document', 'feedback', 'resource', 'source', 'sources'].map((tag) => `<${tag} id="1">`),
    '\n',
    '\n\n',
    '\n\n\n',
    'text',
    ' ',
    '<document',
    '</source>',
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const content = pieces.join('');
      const [, ...parts] = splitRequest({ system: '', messages: [{ role: 'user', content }] });
      expect(parts.map((part) => part.text)).toEqual(
        content.split(/(?=\n\n<(?:document|feedback|resource|source) )/),
      );
    }),
    { numRuns: 1_000 },
  );
});

test('a document is the same part wherever it stands', () => {
  const block = (label: string): string => `\n\n<document label="${label}">\n${label}\n</document>`;
  const request = (...labels: string[]) => ({
    system: 's',
    messages: [{ role: 'user' as const, content: `# Documents${labels.map(block).join('')}` }],
  });
  const texts = splitRequest(request('A', 'B')).map((part) => part.text);
  expect(texts).toContain(block('A'));
  expect(splitRequest(request('B', 'A')).map((part) => part.text)).toContain(block('A'));
});

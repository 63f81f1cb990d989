import { describe, expect, test } from 'vitest';
import { DOCUMENT_NOTICE } from './notice.ts';
import { readDocument } from './read-document.ts';

const say = (text: string): string[] =>
  readDocument(text).pieces.map((piece) => `${piece.path.join('/')}: ${piece.text}`);

describe('Markdown', () => {
  test('gives its sentences under their headings, without front matter and code', () => {
    const text = `---\nmodel: x\n---\n# Plan\n\n## Risks\n\nIt may rain. Or\nnot.\n\n\`\`\`\nx = 1\n\`\`\`\n
- **Till:** One tap is enough [S1.e2].\n- The e.g. stall stays open.`;
    expect(say(text)).toEqual([
      'Plan/Risks: It may rain.',
      'Plan/Risks: Or not.',
      'Plan/Risks/Till: One tap is enough [S1.e2].',
      'Plan/Risks: The e.g. stall stays open.',
    ]);
  });

  test('gives records from tables and from headings with labelled lines', () => {
    const text = `# Plan\n\n## Milestones\n\n| Id | Title | Goal |\n| --- | --- | --- |
| M1 | Shop | Sell bread there |\n\n### [ ] M2: Stall\n\n**Goal:** Sell bread outside\n
**Requirements**\n\n- R1: Bread\n- R2: Rolls`;
    const { items } = readDocument(text);
    expect(items).toMatchObject([
      { list: 'milestones', id: 'M1', title: 'Shop' },
      { list: 'milestones', id: 'M2', title: 'Stall' },
    ]);
    expect(items[1]!.fields.get('requirements')).toEqual(['R1: Bread', 'R2: Rolls']);
  });
});

describe('JSON', () => {
  test('gives sentences by key, Markdown within texts included', () => {
    const text = JSON.stringify({ risks: 'It may rain.\n\n- The tent leaks.', score: { cost: 3 } });
    expect(say(text)).toEqual([
      'risks: It may rain.',
      'risks: The tent leaks.',
      'score/cost: score, cost: 3.',
    ]);
  });

  test('gives records from lists', () => {
    const text = JSON.stringify({ features: [{ feature_name: 'Shop', goal: 'Sell it.', n: 2 }] });
    expect(readDocument(text).items).toMatchObject([{ list: 'features', id: '', title: 'Shop' }]);
  });
});

test('the notice is left out, and a citation stays with the sentence before it', () => {
  expect(say(`${DOCUMENT_NOTICE} Bread sells well. [S1] Rolls do not.`)).toEqual([
    ': Bread sells well. [S1]',
    ': Rolls do not.',
  ]);
});

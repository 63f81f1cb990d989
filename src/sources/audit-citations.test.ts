import { describe, expect, test } from 'vitest';
import { auditCitations, createAuditor } from './audit-citations.ts';
import { hideMarkers } from './markers.ts';
import type { Source } from './source.ts';

const SOURCES: Record<string, Source> = {
  S1: {
    id: 'S1',
    key: 'url:example.org/bread',
    title: 'Bread in numbers',
    url: 'https://example.org/bread',
    excerpts: [
      'The bakery sells 1,200 loaves a week. “Nobody buys bread after noon”, says its owner.',
    ],
  },
  S2: { id: 'S2', key: 'text:1', title: 'Interview', excerpts: ['Rent is 3.50 euros.'] },
  S3: { id: 'S3', key: 'text:2', title: 'The same interview', excerpts: [], aliasOf: 'S2' },
};
const find = (id: string): Source | undefined => SOURCES[id];
const audit = (text: string) => auditCitations(text, find, Object.keys(SOURCES));
const codes = (text: string) => audit(text).defects.map(({ code, line }) => `${line} ${code}`);

describe('the audit of citations', () => {
  test('finds nothing in a document that says what its sources say', () => {
    const text = `# Plan for 3 people

The bakery sells 1200 loaves a week [S1]. "Nobody buys bread after noon" [S1], as everybody knows.
Rent is 3.5 euros [S3].

1. See https://www.example.org/bread/ first.
`;
    expect(audit(text)).toEqual({
      defects: [],
      cited: ['S1', 'S3'],
      orphans: [],
      statements: 3,
      citedStatements: 3,
      coverage: 1,
    });
  });

  test('finds a quotation again whose markers a prompt showed in other brackets', () => {
    const said = 'Bread rises four hours [S2] (S3), see Source 7 and [^1]';
    const own = { ...SOURCES['S1']!, excerpts: [`${said}.`] };
    const document = `He says "${hideMarkers(said)}" [S1].`;
    const { defects, cited } = auditCitations(document, () => own, ['S1']);
    expect({ defects, cited }).toEqual({ defects: [], cited: ['S1'] });
    const altered = document.replace('four', 'five');
    expect(auditCitations(altered, () => own, ['S1']).defects).toHaveLength(1);
  });

  test.each([
    ['an id that no source has', 'It costs 3.50 euros [S2][S9].', '1 unknown_source'],
    ['an id that cannot be one', 'Bread rises [S0].', '1 malformed_marker'],
    ['a marker without an id', 'Bread rises [Sx].', '1 malformed_marker'],
    [
      'an altered quotation',
      'He says "everybody buys bread after noon" [S1].',
      '1 quote_not_in_source',
    ],
    ['another number', '\nIt sells 1,300 loaves [S1].', '2 number_not_in_source'],
    ['a number of another source', 'It sells 1,200 loaves [S2].', '1 number_not_in_source'],
    ['an invented address', 'See https://example.org/cake now.', '1 invented_address'],
    ['an address behind a link', 'See [this](https://example.org/cake).', '1 invented_address'],
    ['a statement without a source', 'Rent is 3.50 euros.', '1 uncited_statement'],
  ])('finds %s', (_, text, expected) => {
    expect(codes(text)).toEqual([expected]);
  });

  test('asks no source for what the person has said', () => {
    const said = ['We have 2,400 euros and “no time before Easter”. 3 of us bake.'];
    const beside = createAuditor(find, Object.keys(SOURCES), { said });
    const text =
      'You have 2400 euros and "no time before Easter". Rent is 3.50 euros. 3 bake 9 loaves.';
    const { defects, statements } = beside(text);
    expect(defects.map((defect) => defect.text)).toEqual([
      'Rent is 3.50 euros.',
      '3 bake 9 loaves.',
    ]);
    expect(statements).toBe(2);
    expect(beside('It has 2,400 loaves [S1].').defects).toMatchObject([
      { code: 'number_not_in_source' },
    ]);
    expect(createAuditor(find, [], { said: [''] })('Rent is 3.50 euros.').defects).toHaveLength(1);
  });

  test('leaves code and the numbers of items alone', () => {
    expect(
      codes('```\n[S9] 12\n```\n\n1. `[S9]` and `5`\n2. Fine.\n\nText.\n\n    [S9] 7\n'),
    ).toEqual([]);
  });

  test('counts what is cited, and names who is not', () => {
    const { coverage, orphans } = audit(
      'Rent is 3.50 euros [S2]. It was 4 once. It is 5 now [S2].',
    );
    expect(coverage).toBeCloseTo(2 / 3);
    expect(orphans).toEqual(['S1']);
  });

  test('compares both halves of a quotation with an omission', () => {
    expect(codes('"The bakery sells … a week" [S1] it is.')).toEqual([]);
    expect(codes('"The bakery sells … a month" [S1] it is.')).toEqual(['1 quote_not_in_source']);
  });

  test('says nothing of a source of which nothing was read', () => {
    const silent = (id: string) => (id === 'S1' ? { ...SOURCES['S1']!, excerpts: [] } : undefined);
    expect(auditCitations('It sells 9 loaves [S1].', silent, ['S1']).defects).toEqual([]);
  });
});

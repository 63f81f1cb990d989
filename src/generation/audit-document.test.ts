import { describe, expect, test } from 'vitest';
import { processOf, stage, step } from '../../test/recipes/build.ts';
import type { PlannedJob } from '../planning/types.ts';
import { mergeOverlays } from '../recipe/overlays.ts';
import type { Contract } from '../recipe/types.ts';
import { SourceSet } from '../sources/source-set.ts';
import type { Assembly } from './assemble-request.ts';
import { auditDocument, normaliseCitations, settleCitations } from './audit-document.ts';
import { describeDefects } from './describe-defects.ts';

const CONTRACT: Contract = {
  type: 'object',
  title: 'Findings',
  'x-coverage': 0.5,
  properties: {
    summary: { type: 'string', 'x-cites': true },
    findings: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          id: { type: 'string' },
          statement: { type: 'string', 'x-cites': true },
          cost: { type: 'string' },
        },
      },
    },
    by: { type: 'string', 'x-fill': 'own_model' },
  },
};

const made = stage('draft', [step('one', 'EXECUTE', 'all_to_one', 'first', ['seed:draft/'])]);
const own = { ...made, contracts: { 'contracts/any.yaml': CONTRACT } };

const sourcesOf = (): SourceSet => {
  const sources = new SourceSet();
  sources.admit({
    title: 'Bread',
    url: 'https://example.org/bread',
    excerpts: ['The bakery sells 1,200 loaves a week. "Nobody buys bread after noon", he says.'],
  });
  sources.admit({ title: 'Rent', excerpts: ['Rent is 900 euros, see https://example.org/rent.'] });
  return sources;
};

const assembly = (sources: SourceSet | undefined): Assembly => ({
  session: { id: '1', process: processOf('drafts', [own]) },
  stage: own,
  step: own.steps[0]!,
  planned: { stage: 'draft', documentKey: 'first' } as PlannedJob,
  facts: {
    userRequest: 'Look at https://example.com/given first. We have 640 euros.',
    iteration: 1,
    project: { name: 'B', domain: '' },
    resources: {},
    overlay: mergeOverlays({}),
  },
  seedPrompt: '',
  inputs: [],
  model: 'a/b',
  turn: null,
  ...(sources && { sources }),
});

const faultsOf = (content: object, sources: SourceSet | undefined = sourcesOf()) =>
  describeDefects(auditDocument(assembly(sources), content)!).map(({ message }) => message);

describe('the audit of a document', () => {
  test('finds no faults of its own in what code collected, but who is cited', () => {
    const content = { summary: 'It sells 1,200 loaves a week [S1].; Rent was 800 euros.' };
    const of = (compute: 'collect' | 'copy' | null) => {
      const given = assembly(sourcesOf());
      return auditDocument({ ...given, step: { ...given.step, compute } }, content);
    };
    expect(of(null)?.defects).toMatchObject([{ code: 'number_not_in_source', text: '800' }]);
    // A copy has the faults of what it copies.
    expect(of('copy')?.defects).toHaveLength(1);
    expect(of('collect')).toMatchObject({ defects: [], cited: ['S1'], uses: [{ source: 'S1' }] });
  });

  test('compares evidence with the source that it names', () => {
    const evidence = [
      { source: 'S1', excerpt: 'The bakery sells 1,200 loaves a week.' },
      { source: '[S2]', excerpt: 'Rent is 800 euros' },
      { source: 'S9', excerpt: 'Anything.' },
    ];
    const content = { findings: [{ id: 'F1', statement: 'Bread is sold.', evidence }] };
    const { defects, cited, uses, orphans } = auditDocument(assembly(sourcesOf()), content)!;
    expect(defects).toEqual([
      { section: 'findings', code: 'quote_not_in_source', text: 'Rent is 800 euros' },
      { section: 'findings', code: 'unknown_source', text: 'S9' },
    ]);
    expect(cited.toSorted()).toEqual(['S1', 'S2']);
    expect(uses).toContainEqual({ source: 'S1', kind: 'finding', place: 'findings/F1' });
    expect(orphans).toEqual([]);
  });

  test('tells what is cited where, and what is not', () => {
    const content = {
      summary: 'It sells 1,200 loaves a week [S1.e1]. Rent is 900 euros.',
      findings: [{ id: 'F3', statement: 'Bread is sold [S1][S1].', cost: 'About 50 euros.' }],
      by: 'model-1 [S9]',
    };
    expect(auditDocument(assembly(sourcesOf()), content)).toEqual({
      statements: 2,
      citedStatements: 1,
      coverage: 0.5,
      wanted: 0.5,
      cited: ['S1'],
      orphans: ['S2'],
      defects: [],
      uses: [
        { source: 'S1', kind: 'section', place: 'summary' },
        { source: 'S1', kind: 'finding', place: 'findings/F3' },
      ],
    });
  });

  test('names every fault with its section and what to do', () => {
    const summary =
      'Bread rises [S9]. It sells 1,300 loaves [S1]. He says "everybody buys cake" [S1].';
    const statement = 'See https://example.org/cake, [Sx] and https://example.com/given.';
    expect(faultsOf({ summary, findings: [{ id: 'F1', statement }] })).toEqual([
      '`summary` cites [S9], and there is no such source. Cite an id of the list of sources, or none.',
      expect.stringMatching(
        /^`summary` gives the figure 1,300, which stands in none of the sources/,
      ),
      expect.stringMatching(/^`summary` quotes "everybody buys cake", which stands in none/),
      expect.stringMatching(/^`findings` gives the address https:\/\/example.org\/cake, which no/),
      '`findings` has [Sx], which names no source. Cite as in [S1], or not at all.',
    ]);
  });

  test('names statements without a source only where the contract wants more of them cited', () => {
    const half = 'Rent is 900 euros [S2]. It was 800 once.';
    expect(faultsOf({ summary: half })).toEqual([]);
    expect(faultsOf({ summary: `${half} You have 640 euros.` })).toEqual([]);
    expect(faultsOf({ summary: `${half} It will be 950.` })).toEqual([
      '`summary` states without a source: It was 800 once. (1 of 3 statements cite a source; ' +
        '50 % must. Cite the source, or leave the statement out.)',
      '`summary` states without a source: It will be 950.',
    ]);
  });

  test('takes a citation for a fault where there are no sources, and nothing else', () => {
    const none = new SourceSet();
    expect(auditDocument(assembly(none), { summary: 'Severity (S1), as Source 1 says: 5.' })).toBe(
      null,
    );
    expect(faultsOf({ summary: 'It costs 5 euros [S1].' }, none)).toEqual([
      expect.stringMatching(/^`summary` cites \[S1\], and there is no such source/),
    ]);
  });
});

describe('the citations of a document', () => {
  test('are written plainly', () => {
    const content = { summary: 'A [S1, S2], B 【S2】 and `[S1,S2]`.', findings: [] };
    expect(normaliseCitations(assembly(sourcesOf()), content)).toEqual({
      ...content,
      summary: 'A [S1][S2], B [S2] and `[S1,S2]`.',
    });
    expect(normaliseCitations(assembly(undefined), content)).toBe(content);
  });

  test('of what does not exist become marks, which every later audit finds again', () => {
    const content = { summary: 'A [S1][S9] and [S0].', findings: [] };
    const settled = settleCitations(assembly(sourcesOf()), content);
    expect(settled).toEqual({
      ...content,
      summary: 'A [S1][unknown source: S9] and [unknown source: S0].',
    });
    expect(faultsOf(settled)).toHaveLength(2);
    expect(settleCitations(assembly(sourcesOf()), settled)).toBe(settled);
  });
});

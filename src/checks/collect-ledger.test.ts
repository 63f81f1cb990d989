import { describe, expect, test } from 'vitest';
import type { Contract } from '../recipe/types.ts';
import { collectLedger, type LedgerDocument } from './collect-ledger.ts';

const list = (kind: 'findings' | 'decisions' | 'work_items', ...fields: string[]) => ({
  type: 'array',
  'x-records': kind,
  items: {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field, { type: 'string' }])),
  },
});
const contractOf = (properties: Contract['properties']): Contract => ({
  type: 'object',
  title: 'Any',
  properties,
});

const LEDGER = contractOf({
  findings: list('findings', 'id', 'claim', 'weight', 'source', 'by', 'decision', 'work'),
});
const CRITIQUE = contractOf({ found: list('findings', 'id', 'claim', 'weight') });
const DECIDING = contractOf({ decided: list('decisions', 'finding', 'decision', 'where', 'why') });

const critique = (author: string, ...claims: string[]): LedgerDocument => ({
  title: 'Critique',
  author,
  contract: CRITIQUE,
  content: { found: claims.map((claim) => ({ id: 'X1', claim, weight: 'heavy', extra: 1 })) },
});

describe('the ledger of findings', () => {
  test('numbers findings through and keeps who found them', () => {
    const { findings } = collectLedger(LEDGER, [
      critique('x/a', 'It bakes twice.', ' '),
      critique('x/b', 'The alarm dies with the server.'),
    ]);
    expect(findings).toEqual([
      { id: 'F1', claim: 'It bakes twice.', weight: 'heavy', source: 'Critique', by: 'x/a' },
      {
        id: 'F2',
        claim: 'The alarm dies with the server.',
        weight: 'heavy',
        source: 'Critique',
        by: 'x/b',
      },
    ]);
  });

  test('says what was decided on each', () => {
    const decided: LedgerDocument = {
      title: 'Requirements',
      author: 'x/a',
      contract: DECIDING,
      content: {
        decided: [
          { finding: 'F1', decision: 'taken_up', where: 'R2' },
          { finding: 'F-2', decision: 'rejected', why: 'A phone call is enough.' },
        ],
      },
    };
    const { findings } = collectLedger(LEDGER, [
      critique('x/a', 'One.', 'Two.', 'Three.'),
      decided,
    ]);
    expect((findings as { decision?: string }[]).map(({ decision }) => decision)).toEqual([
      'taken up: R2',
      'rejected: A phone call is enough.',
      undefined,
    ]);
  });

  test('says which work items carry a finding out', () => {
    const planned: LedgerDocument = {
      ...critique('x/a'),
      contract: contractOf({ work: list('work_items', 'id', 'findings') }),
      content: {
        work: [
          { id: 'W3', findings: ['F2'] },
          { id: 'W4', findings: 'F1, F-2' },
        ],
      },
    };
    const { findings } = collectLedger(LEDGER, [critique('x/a', 'One.', 'Two.'), planned]);
    expect((findings as { work?: string }[]).map(({ work }) => work)).toEqual(['W4', 'W3, W4']);
  });

  test('takes from a ballot only what is about the plan that the ledger is about', () => {
    const contract = contractOf({ found: list('findings', 'claim', 'option') });
    const said = (option: string) => ({ claim: `About ${option}.`, option });
    const ballot = {
      ...critique('x/a'),
      contract,
      content: { found: [said('Plan B'), said('A'), { claim: 'About both.' }] },
      ownLabel: 'B',
    };
    const { findings } = collectLedger(LEDGER, [ballot]);
    expect((findings as { claim: string }[]).map(({ claim }) => claim)).toEqual([
      'About Plan B.',
      'About both.',
    ]);
  });

  test('is empty where nobody wrote findings', () => {
    expect(collectLedger(LEDGER, [])).toEqual({ findings: [] });
  });
});

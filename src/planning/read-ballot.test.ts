import { describe, expect, test } from 'vitest';
import type { Convergence } from '../recipe/types.ts';
import { readBallot } from './read-ballot.ts';

const convergence: Convergence = {
  candidates: { stage: 's', documentKey: 'plan' },
  ballots: { stage: 's', documentKey: 'advice' },
  rankings: 'recommendation.rankings',
  option: 'option_id',
  rank: 'rank',
};
const read = (rankings: unknown) =>
  readBallot(convergence, { recommendation: { rankings } }, ['lane-1', 'lane-2', 'lane-3']);
const problemsOf = (rankings: unknown): string =>
  read(rankings)
    .problems.map(({ path, message }) => `${path} ${message}`)
    .join('\n');
const rank = (...options: string[]) =>
  options.map((option, at) => ({ rank: at + 1, option_id: option }));

describe('readBallot', () => {
  test('takes the labels in whatever way a model writes them, by rank', () => {
    const { ranking, problems } = read([
      { rank: 2, option_id: 'Option A' },
      { rank: '1', option_id: 'b' },
      { rank: '#3', option_id: 'Plan "C" (a draft)' },
    ]);
    expect({ ranking, problems }).toEqual({
      ranking: ['lane-2', 'lane-1', 'lane-3'],
      problems: [],
    });
  });

  test('follows the order of the list where no rank is given', () => {
    const items = ['C', 'A', 'B'].map((option) => ({ option_id: option }));
    expect(read(items).ranking).toEqual(['lane-3', 'lane-1', 'lane-2']);
  });

  test('passes over an entry beside a whole ranking', () => {
    expect(read(rank('C', 'a third way', 'A', 'B')).ranking).toEqual([
      'lane-3',
      'lane-1',
      'lane-2',
    ]);
  });

  test.each([
    ['no label', rank('Implementation: bakery', 'Documents'), 'does not rank A, B and C'],
    ['nothing to read', 'none', 'does not rank A, B and C'],
    ['a label that was not dealt', rank('A', 'B', 'D'), 'does not rank C'],
    ['two labels at once', rank('A', 'B or C'), 'does not rank B and C'],
    ['a rival left out', rank('B', 'A'), 'does not rank C'],
    ['a rival twice', rank('A', 'B', 'C', 'plan a'), 'ranks A more than once'],
    ['a rank twice', [{ rank: 1, option_id: 'A' }, ...rank('B', 'C')], 'gives the rank 1 twice'],
  ])('is not read with %s, and the labels are named', (_, rankings, problem) => {
    expect(read(rankings).ranking).toEqual([]);
    expect(problemsOf(rankings)).toContain(problem);
    expect(problemsOf(rankings)).toContain(
      'must rank each of A, B and C exactly once, named by its label in option_id.',
    );
  });

  test('says what stood in the place of a label', () => {
    expect(problemsOf(rank('Documents', 'A'))).toContain(
      'recommendation.rankings[].option_id says "Documents", which is no label of a rival.',
    );
  });
});

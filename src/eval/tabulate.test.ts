import { describe, expect, test } from 'vitest';
import { verdict } from '../../test/eval/verdicts.ts';
import { describeTest } from './describe-evaluation.ts';
import { type Judgement, SIDES, type Side } from './judge-cases.ts';
import { ROLES, readVerdict } from './rubric.ts';
import { signTest } from './statistics.ts';
import { tabulate } from './tabulate.ts';

const spent = { calls: 1, inputTokens: 1, outputTokens: 1, costUsd: 0 };

/** Judgements of one judge on one brief in all roles and both orders. */
function sittings(judge: string, prefer: (first: Side) => Side, brief = 'bread'): Judgement[] {
  const { x, y, reason } = readVerdict(verdict(9, 5, 'X'));
  return SIDES.flatMap((first) =>
    ROLES.map(({ key: role }) => ({
      brief,
      rivals: ['one-prompt' as const],
      pair: brief,
      judge,
      role,
      first,
      reason,
      spent,
      preference: prefer(first),
      opinions: { debate: first === 'debate' ? x : y, rival: first === 'debate' ? y : x },
    })),
  );
}
const alwaysFirst = sittings('a/first', (first) => first);

describe('tabulate', () => {
  test('finds no preference in a judge who always takes the first folder', () => {
    const { preferences, scores } = tabulate(alwaysFirst);
    expect(preferences.map(({ preferred }) => preferred)).toEqual([null, null, null, null]);
    expect(preferences.at(-1)).toMatchObject({
      judgements: { debate: 0, rival: 0, tie: 3 },
      byFirst: { debate: { debate: 3, of: 3 }, rival: { debate: 0, of: 3 } },
      test: { p: 1, isMoreThanChance: false, needed: null },
    });
    const seven = { mean: 7, deviation: null, least: 7, most: 7 };
    for (const { role, scores: own, judgements } of scores) {
      if (role === 'all') expect(own.sound.debate).toEqual({ ...seven, deviation: 0 });
      else expect([own.sound, judgements]).toEqual([{ debate: seven, rival: seven }, 1]);
    }
  });

  test('lets judges who keep to a side in both orders decide', () => {
    const { preferences } = tabulate([...alwaysFirst, ...sittings('b/rival', () => 'rival')]);
    expect(preferences[0]).toMatchObject({
      preferred: 'rival',
      judgements: { debate: 0, rival: 1, tie: 1 },
    });
  });

  test('counts one judge on each of several briefs, whose judgements are more than chance', () => {
    const briefs = ['a', 'b', 'c', 'd', 'e', 'f'];
    const all = briefs.flatMap((brief) => sittings('b/debate', () => 'debate', brief));
    expect(tabulate(all).preferences[0]).toMatchObject({
      judgements: { debate: 6, rival: 0, tie: 0 },
      test: { p: 0.03125, isMoreThanChance: true, needed: null },
    });
  });

  test('takes half a pair for the scores and not for the preference', () => {
    const half = alwaysFirst.filter(({ first, role }) => first === 'debate' && role === 'people');
    const { preferences, scores } = tabulate(half);
    expect(preferences.map(({ role, preferred }) => [role, preferred])).toEqual([
      ['people', null],
      ['all', null],
    ]);
    expect(scores[0]!.scores.sound.debate.mean).toBe(9);
    expect(tabulate([])).toEqual({ scores: [], preferences: [] });
  });
});

describe('describeTest', () => {
  test.each([
    [5, 1, '5 of 6 for the debate is not yet more than chance (p = 0.22); 10 of 12 would be'],
    [1, 9, '9 of 10 for one prompt is more than chance (p = 0.021)'],
    [30, 0, '30 of 30 for the debate is more than chance (p < 0.001)'],
    [2, 2, '2 of 4 for each: no preference'],
    [0, 0, 'nothing was decided'],
  ])('says of %i against %i: %s', (debate, rival, said) => {
    expect(describeTest({ debate, rival }, signTest(debate, rival), 'one prompt')).toBe(said);
  });

  test('says where a split is so even that no affordable number would do', () => {
    const said = describeTest({ debate: 501, rival: 500 }, signTest(501, 500), 'one prompt');
    expect(said).toContain('takes more than a thousand judgements');
  });
});

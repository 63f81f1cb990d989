import { describe, expect, test } from 'vitest';
import { verdict } from '../../test/eval/verdicts.ts';
import { type Judgement, SIDES, type Side } from './judge-folders.ts';
import { ROLES, readVerdict } from './rubric.ts';
import { tabulate } from './tabulate.ts';

/** Judgements of one judge in all roles and both orders. */
function sittings(judge: string, prefer: (first: Side) => Side): Judgement[] {
  const { x, y, reason } = readVerdict(verdict(9, 5, 'X'));
  return SIDES.flatMap((first) =>
    ROLES.map(({ key: role }) => ({
      judge,
      role,
      first,
      reason,
      preference: prefer(first),
      debate: first === 'debate' ? x : y,
      single: first === 'debate' ? y : x,
    })),
  );
}
const alwaysFirst = sittings('a/first', (first) => first);

describe('tabulate', () => {
  test('finds no preference in a judge who always takes the first folder', () => {
    const { preferences, scores } = tabulate(alwaysFirst);
    expect(preferences.map(({ preferred }) => preferred)).toEqual([null, null, null, null]);
    expect(preferences.at(-1)).toMatchObject({
      all: { debate: 3, of: 6 },
      byFirst: { debate: { debate: 3, of: 3 }, single: { debate: 0, of: 3 } },
      judges: { debate: 0, single: 0, turned: 3 },
    });
    for (const row of scores) expect(row.scores.sound).toEqual({ debate: 7, single: 7 });
  });

  test('lets judges who keep to a side in both orders decide', () => {
    const { preferences } = tabulate([...alwaysFirst, ...sittings('b/single', () => 'single')]);
    expect(preferences[0]).toMatchObject({
      preferred: 'single',
      judges: { debate: 0, single: 1, turned: 1 },
    });
  });

  test('takes half a pair for the scores and not for the preference', () => {
    const half = alwaysFirst.filter(({ first, role }) => first === 'debate' && role === 'people');
    const { preferences, scores } = tabulate(half);
    expect(preferences.map(({ role, preferred }) => [role, preferred])).toEqual([
      ['people', null],
      ['all', null],
    ]);
    expect(scores[0]!.scores.sound).toEqual({ debate: 9, single: 5 });
    expect(tabulate([])).toEqual({ scores: [], preferences: [] });
  });
});

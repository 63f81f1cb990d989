import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countBallots } from './count-ballots.ts';
import type { Lane } from './types.ts';

const lanesOf = (...ids: string[]): Lane[] => ids.map((id, at) => ({ id, ordinal: at + 1 }));
const ballots = (...rankings: string[]) =>
  rankings.map((ranking, at) => ({ voterLaneId: `v${at}`, ranking: ranking.split('') }));

describe('countBallots', () => {
  test('more than half of the first choices wins at once', () => {
    const choice = countBallots(lanesOf('a', 'b', 'c'), ballots('bac', 'bca', 'abc'));
    expect(choice).toMatchObject({ laneId: 'b', reason: '2 of 3 first choices' });
    expect(choice.rounds).toHaveLength(1);
  });

  test('the votes of a plan that is struck out go to the next choice', () => {
    const choice = countBallots(lanesOf('a', 'b', 'c'), ballots('acb', 'acb', 'bca', 'bca', 'cba'));
    expect(choice.rounds[0]).toEqual({
      votes: { a: 2, b: 2, c: 1 },
      eliminated: 'c',
      tieBrokenBy: null,
    });
    expect(choice.laneId).toBe('b');
  });

  test('among equals fewer points go first, then the later participant', () => {
    const points = countBallots(lanesOf('a', 'b', 'c'), ballots('acb', 'bca', 'cab'));
    expect(points.rounds[0]).toMatchObject({ eliminated: 'b', tieBrokenBy: 'points' });
    const even = countBallots(lanesOf('a', 'b'), ballots('ab', 'ba'));
    expect(even).toMatchObject({
      laneId: 'a',
      rounds: [{ eliminated: 'b', tieBrokenBy: 'ordinal' }],
    });
  });

  test('nobody ranked, or only strangers: the first participant', () => {
    expect(countBallots(lanesOf('a', 'b'), [])).toMatchObject({ laneId: 'a', rounds: [] });
    expect(countBallots(lanesOf('a', 'b'), ballots('xyz', '')).laneId).toBe('a');
  });

  test('own votes can be left out: the lanes below them move up', () => {
    const lanes = lanesOf('a', 'b', 'c');
    const cast = [
      { voterLaneId: 'a', ranking: ['a', 'c', 'b'] },
      { voterLaneId: 'b', ranking: ['b', 'c', 'a'] },
      { voterLaneId: 'c', ranking: ['a', 'b', 'c'] },
    ];
    expect(countBallots(lanes, cast)).toMatchObject({ laneId: 'a', points: { a: 4, b: 3, c: 2 } });
    expect(countBallots(lanes, cast, 'ignore')).toMatchObject({
      laneId: 'c',
      reason: '2 of 3 first choices',
      points: { a: 3, b: 2, c: 4 },
    });
    const two = [
      { voterLaneId: 'a', ranking: ['b', 'a'] },
      { voterLaneId: 'b', ranking: ['b', 'a'] },
    ];
    expect(countBallots(lanesOf('a', 'b'), two).laneId).toBe('b');
    expect(countBallots(lanesOf('a', 'b'), two, 'ignore')).toMatchObject({
      laneId: 'a',
      reason: 'equal first choices and equal points; the earlier participant stands',
    });
  });

  test('always chooses one of the lanes, whatever the order of ballots', () => {
    const ranking = fc.shuffledSubarray(['a', 'b', 'c', 'd', 'x']);
    fc.assert(
      fc.property(fc.array(ranking, { maxLength: 6 }), (rankings) => {
        const cast = rankings.map((one, at) => ({ voterLaneId: `v${at}`, ranking: one }));
        const lanes = lanesOf('a', 'b', 'c', 'd');
        const choice = countBallots(lanes, cast);
        expect(lanes.map((lane) => lane.id)).toContain(choice.laneId);
        expect(countBallots(lanes, cast.toReversed()).laneId).toBe(choice.laneId);
      }),
    );
  });

  test('a plan that everybody ranks first is chosen', () => {
    fc.assert(
      fc.property(fc.nat(3), fc.integer({ min: 1, max: 5 }), (best, voters) => {
        const ids = ['a', 'b', 'c', 'd'];
        const ranking = [ids[best]!, ...ids.filter((_, at) => at !== best)].join('');
        const cast = ballots(...Array.from({ length: voters }, () => ranking));
        expect(countBallots(lanesOf(...ids), cast).laneId).toBe(ids[best]);
      }),
    );
  });
});

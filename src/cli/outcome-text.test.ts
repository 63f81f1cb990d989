import { expect, test } from 'vitest';
import type { RunResult } from '../session/summary.ts';
import { describeOutcome } from './outcome-text.ts';

const nothing = { outcome: { decided: [], disagreements: [] }, vote: null, chosen: null };

test('three decisions, the ballots, the choice and every disagreement have a line each', () => {
  const chosen = { lane: 2, model: 'x/b', by: 'ballots', text: 'The results follow lane 2 (x/b).' };
  const ballots = [
    { lane: 1, ranking: [2, 1], problem: null },
    { lane: 2, ranking: [], problem: 'no list' },
  ];
  const outcome = {
    decided: ['Build it. Then sell it.', 'Two.', 'Three.', 'Four.'],
    disagreements: [`open (heavy): ${'word '.repeat(60)}`, 'rejected: x'],
  };
  const result = { outcome, chosen, vote: { ballots } } as unknown as RunResult;
  expect(describeOutcome(result)).toEqual([
    'Decided:',
    '  Build it.',
    '  Two.',
    '  Three.',
    '  and 1 more',
    'Blind ballots:',
    '  lane 1 ranks lane 2, then lane 1',
    '  lane 2: the ballot could not be read (no list)',
    'The results follow lane 2 (x/b).',
    'Not agreed on:',
    expect.stringMatching(/^ {2}open \(heavy\): (word ){27}…$/),
    '  rejected: x',
  ]);
});

test('a run that has decided nothing says nothing of it', () => {
  expect(describeOutcome(nothing)).toEqual([]);
});

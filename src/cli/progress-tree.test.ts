import { expect, test } from 'vitest';
import { processOf, stage, step } from '../../test/recipes/build.ts';
import { drawTree, expectSteps, type StepRow } from './progress-tree.ts';

const process = processOf('p', [
  stage('thesis', [step('write', 'EXECUTE', 'all_to_one', 'case', ['seed:thesis/'])]),
  stage('critique', [step('judge', 'EXECUTE', 'all_to_one', 'review', ['seed:critique/'])]),
  stage('plan', [step('order', 'EXECUTE', 'all_to_one', 'plan', ['seed:plan/'])]),
]);
const lane = (ordinal: number, model: string) => ({ id: `lane-${ordinal}`, ordinal, model });
const row = (stageKey: string, stepKey: string, own: Partial<StepRow>): StepRow => ({
  stage: stageKey,
  step: stepKey,
  lane: 1,
  done: 0,
  running: 0,
  failed: 0,
  ...own,
});
const expected = new Map([['critique/judge', 4]]);

test('the tree shows stages, the steps under way and every participant', () => {
  const lanes = [lane(1, 'offline/builder'), lane(2, 'offline/skeptic')];
  const rows = [
    row('thesis', 'write', { done: 1 }),
    row('thesis', 'write', { done: 1, lane: 2 }),
    row('critique', 'judge', { done: 2 }),
    row('critique', 'judge', { done: 1, running: 1, lane: 2 }),
  ];
  expect(drawTree({ process, lanes, untilStage: null }, rows, expected)).toEqual([
    '1 offline/builder · 2 offline/skeptic',
    '✓ thesis',
    '▸ critique',
    '    ▸ judge 3/4  1✓ 2▸',
    '· plan',
  ]);
});

test('a participant alone is not named, and what failed is marked', () => {
  const rows = [row('critique', 'judge', { done: 1, failed: 1 })];
  expect(drawTree({ process, untilStage: null, lanes: [lane(1, 'x/y')] }, rows, expected)).toEqual([
    '· thesis',
    '▸ critique',
    '    ✗ judge 1/4',
    '· plan',
  ]);
});

test('a run that ends early expects only the calls until then', () => {
  const lanes = [lane(1, 'offline/builder'), lane(2, 'offline/skeptic')];
  const session = { process, lanes, untilStage: 'critique', writerLaneId: null };
  const calls = expectSteps(session);
  expect([...calls.keys()]).toEqual(['thesis/write', 'critique/judge']);
  expect(expectSteps({ ...session, untilStage: null }).size).toBe(3);
  expect(drawTree(session, [], calls).slice(1)).toEqual(['· thesis', '· critique']);
});

import { expect, test } from 'vitest';
import { processOf, stage, step } from '../../test/recipes/build.ts';
import type { StepRow } from '../session/session-state.ts';
import { drawTree, expectSteps, summariseProgress } from './progress-tree.ts';

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

test('what is done never exceeds what is expected, and no time left is negative', () => {
  const plan = new Map([['critique/judge', 4]]);
  const beyond = [row('critique', 'judge', { done: 5, running: 1 })];
  const pace = { before: 1, since: 0, seconds: 8, tokens: 1234 };
  expect(summariseProgress(beyond, plan, pace)).toBe(
    '5 of about 6 calls · 1,234 tokens · 8 s, about 2 s left',
  );
  const tree = drawTree({ process, untilStage: null, lanes: [lane(1, 'x/y')] }, beyond, plan);
  expect(tree).toContain('    ▸ judge 5/6');
});

test('the time left follows from what this process did alone', () => {
  const rows = [row('critique', 'judge', { done: 103 })];
  const plan = new Map([['critique/judge', 110]]);
  const pace = { before: 100, since: 2, seconds: 8, tokens: 0 };
  expect(summariseProgress(rows, plan, pace)).toContain('about 14 s left');
  expect(summariseProgress(rows, plan, { ...pace, before: 101 })).not.toContain('left');
});

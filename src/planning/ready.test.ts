import { describe, expect, test } from 'vitest';
import { processOf, stage, step } from '../../test/recipes/build.ts';
import { shipped } from '../../test/recipes/shipped.ts';
import type { Process, Step } from '../recipe/types.ts';
import { findReadySteps, type LaneStates, type Readiness } from './ready.ts';

const laneIds = ['one', 'two'];

const merge = (more: Partial<Step>, required = '') =>
  processOf('p', [
    stage('s', [
      step('a', 'EXECUTE', 'all_to_one', 'a', ['seed:s/']),
      step('b', 'EXECUTE', 'all_to_one', 'b', [`doc:s/a*${required}@all`], more),
    ]),
  ]);

const askIn =
  (process: Process, stageKey: string) =>
  (states: LaneStates): Readiness =>
    findReadySteps({ process, stageKey, laneId: 'one', laneIds, states });

describe('findReadySteps', () => {
  test('starts with what nothing precedes and follows the edges', () => {
    const ask = askIn(shipped('software-plan'), 'parenthesis');
    expect(ask({}).ready).toEqual(['build-planning-header']);
    expect(ask({ one: { 'build-planning-header': 'planned' } }).ready).toEqual([]);
    const done = { 'build-planning-header': 'done' } as const;
    expect(ask({ one: done }).ready).toEqual(['generate-technical_requirements']);
    expect(ask({ one: { ...done, 'generate-technical_requirements': 'done' } }).ready).toEqual([
      'generate-master-plan',
    ]);
  });

  test('a step that reads all lanes waits for the others', () => {
    const ask = askIn(shipped('software-plan'), 'paralysis');
    const mine = {
      'build-implementation-header': 'done',
      'generate-actionable-checklist': 'done',
      'generate-updated-master-plan': 'done',
    } as const;
    expect(ask({ one: mine })).toMatchObject({
      ready: [],
      waitingForLanes: ['generate-advisor-recommendations'],
    });
    expect(ask({ one: mine, two: { 'generate-updated-master-plan': 'failed' } })).toMatchObject({
      blocked: ['generate-advisor-recommendations'],
    });
    expect(ask({ one: mine, two: { 'generate-updated-master-plan': 'done' } }).ready).toEqual([
      'generate-advisor-recommendations',
    ]);
  });

  test('any goes on once every lane has ended, and not before', () => {
    const process = merge({ dependencyPolicy: 'any' });
    const ask = askIn(process, 's');
    expect(ask({ one: { a: 'done' } }).waitingForLanes).toEqual(['b']);
    expect(ask({ one: { a: 'failed' }, two: { a: 'done' } }).ready).toEqual(['b']);
    expect(ask({ one: { a: 'failed' }, two: { a: 'failed' } }).blocked).toEqual(['b']);
  });

  test('an optional input is waited for, and its failure is borne', () => {
    const process = merge({}, '?');
    const ask = askIn(process, 's');
    expect(ask({}).ready).toEqual(['a']);
    expect(ask({ one: { a: 'planned' } }).waiting).toEqual(['b']);
    expect(ask({ one: { a: 'failed' }, two: { a: 'failed' } }).ready).toEqual(['b']);
  });
});

import { expect, test } from 'vitest';
import { processOf, stage, step } from '../../../test/recipes/build.ts';
import type { SessionEvent } from '../../session/event-types.ts';
import { NO_EVENTS, reduceSession } from '../../session/session-state.ts';
import { AT, job, laneJob, stageJob, told } from './run-events.fixture.ts';
import { expectSteps, type ShownSession, viewRun } from './run-view.ts';

const session: ShownSession = {
  process: processOf('p', [
    stage('thesis', [step('write', 'EXECUTE', 'all_to_one', 'case', ['seed:thesis/'])]),
    stage('critique', [step('judge', 'EXECUTE', 'all_to_one', 'review', ['seed:critique/'])]),
  ]),
  lanes: ['offline/builder', 'offline/skeptic'].map((model, at) => ({
    id: `lane-${at + 1}`,
    ordinal: at + 1,
    model,
  })),
  untilStage: null,
  writerLaneId: null,
};
const look = (events: readonly SessionEvent[], shown = session) =>
  viewRun(shown, expectSteps(shown), reduceSession(NO_EVENTS, events));

const write = (lane: number) => ({ stage: 'thesis', step: 'write', lane });
const begun = [
  told('session-started', {}),
  told('stage-started', { stage: 'thesis' }),
  stageJob('job-created', 'thesis'),
  laneJob('thesis', 1),
  laneJob('thesis', 2),
];
const ended = [told('stage-completed', { stage: 'thesis' }), stageJob('job-completed', 'thesis')];
const wrote = (lane: number) => [
  job('job-started', write(lane)),
  job('job-completed', write(lane)),
  told('step-completed', write(lane)),
];

test('before the first call everything waits, and the plan is the whole', () => {
  const view = look(begun);
  expect(view).toMatchObject({ done: 0, total: 4, queued: 0, calls: [], retries: [] });
  expect(view.stages.map(({ name, mark }) => [name, mark])).toEqual([
    ['thesis', 'active'],
    ['critique', 'waiting'],
  ]);
});

test('a call in flight has its participant, its document, its text and its start', () => {
  const events = [
    ...begun,
    job('job-created', write(1)),
    job('job-created', write(2)),
    job('job-started', write(2)),
    told('text-saved', { jobId: 'thesis/write/2', characters: 400 }),
    told('text-saved', { jobId: 'thesis/write/2', characters: 21 }),
  ];
  const { calls, queued } = look(events);
  const [call] = calls;
  expect(calls).toHaveLength(1);
  expect(call).toMatchObject({ participant: '2 skeptic', characters: 421, startedAt: AT });
  expect(call!.title).not.toBe('case');
  expect(queued).toBe(1);
});

test('what is read for a call is shown beside it, until it is read', () => {
  const read = (done: number) =>
    told('parts-read', { jobId: 'thesis/write/1', title: 'Annals', done, all: 1_024 });
  const events = [...begun, job('job-created', write(1)), job('job-started', write(1)), read(128)];
  expect(look(events).calls[0]!.reading).toEqual({ title: 'Annals', done: 128, all: 1_024 });
  expect(look([...events, read(1_024)]).calls[0]!.reading).toBeNull();
  // Where it was put back, the next try begins to count anew.
  expect(look([...events, job('job-started', write(1))]).calls[0]!.reading).toBeNull();
});

test('a stage without calls under way is not over before it says so', () => {
  const between = look([...begun, ...wrote(1), ...wrote(2)]).stages[0]!;
  expect(between).toMatchObject({ mark: 'active', done: 2, total: 2 });
  expect(between.steps[0]!.mark).toBe('done');
  const [half] = look([...begun, ...wrote(1)]).stages;
  expect(half!.steps[0]).toMatchObject({ mark: 'active', done: 1, total: 2 });
  expect(half!.steps[0]!.lanes).toEqual([
    { ordinal: 1, mark: 'done' },
    { ordinal: 2, mark: 'waiting' },
  ]);
  expect(look([...begun, ...wrote(1), ...wrote(2), ...ended]).stages[0]!.mark).toBe('done');
});

test('a stage that ended with fewer calls than planned leaves none of them to do', () => {
  const view = look([...begun, ...wrote(1), ...ended]);
  expect(view).toMatchObject({ done: 1, total: 3 });
});

test('a stage that only one of two participants completed is not ticked when it fails', () => {
  const lost = [
    job('job-failed', write(2), { error: null }),
    told('step-failed', { ...write(2), error: null }),
    told('stage-completed', { stage: 'thesis' }),
  ];
  const [before] = look([...begun, ...wrote(1), ...lost]).stages;
  expect(before).toMatchObject({ mark: 'active', done: 1, total: 2 });
  const after = [...begun, ...wrote(1), ...lost, stageJob('job-failed', 'thesis')];
  expect(look(after).stages[0]!.mark).toBe('failed');
});

test('more calls than planned raise the plan', () => {
  const more = [3, 4, 5].map((lane) => job('job-created', write(lane)));
  const view = look([...begun, ...wrote(1), ...wrote(2), ...more]);
  expect(view).toMatchObject({ done: 2, total: 7, queued: 0 });
});

test('another pass begins at nothing', () => {
  const again = { iteration: 2 };
  const events = [
    ...begun,
    ...wrote(1),
    ...wrote(2),
    ...ended,
    told('session-continued', again),
    told('stage-started', { stage: 'thesis', ...again }),
    laneJob('thesis', 1, { jobId: 'second', ...again }),
  ];
  const view = look(events);
  expect(view).toMatchObject({ done: 0, total: 4 });
  expect(view.stages.map(({ mark }) => mark)).toEqual(['active', 'waiting']);
});

test('a retry has its reason and the time of the next try, until it is claimed', () => {
  const error = { code: 'provider_unavailable', message: 'compatible/m: 503.' };
  const retry = { error, attempt: 1, nextTryAt: '2026-11-15T20:00:08.000Z' };
  const events = [...begun, job('job-started', write(1)), job('job-retried', write(1), retry)];
  expect(look(events)).toMatchObject({ retries: [{ participant: '1 builder', ...retry }] });
  expect(look(events).queued).toBe(0);
  expect(look([...events, job('job-started', write(1))])).toMatchObject({
    retries: [],
    calls: [{ participant: '1 builder', characters: 0 }],
  });
});

test('a run that ends early shows and expects only what comes until then', () => {
  const early = { ...session, untilStage: 'thesis' };
  expect([...expectSteps(early).keys()]).toEqual(['thesis/write']);
  expect(look([], early).stages.map(({ name }) => name)).toEqual(['thesis']);
});

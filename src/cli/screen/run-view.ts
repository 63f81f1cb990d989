import { foreseeCalls } from '../../estimate/foresee-calls.ts';
import type { JobStatus } from '../../jobs/transitions.ts';
import { describeDocument } from '../../recipe/contract.ts';
import type { Stage, Step } from '../../recipe/types.ts';
import type { SessionView } from '../../session/read.ts';
import {
  countSteps,
  type JobState,
  type SessionState,
  type StepRow,
} from '../../session/session-state.ts';

/** What the screen needs to know of a session; it does not change while the session runs. */
export type ShownSession = Pick<SessionView, 'process' | 'lanes' | 'untilStage' | 'writerLaneId'>;

export type Mark = 'waiting' | 'active' | 'done' | 'failed';

type StepView = {
  readonly name: string;
  readonly mark: Mark;
  readonly done: number;
  readonly total: number;
  /** How far each participant of the stage is. */
  readonly lanes: readonly { readonly ordinal: number; readonly mark: Mark }[];
};

export type StageView = {
  readonly name: string;
  readonly mark: Mark;
  readonly done: number;
  readonly total: number;
  /** Calls that have ended. */
  readonly calls: number;
  readonly steps: readonly StepView[];
};

/** Who writes what. */
type Authored = { readonly participant: string; readonly title: string };

/** A call in flight. */
export type CallView = Authored & {
  /** When its job was claimed. */
  readonly startedAt: string | null;
  readonly characters: number;
  readonly reading: JobState['reading'];
};

export type RetryView = Authored & NonNullable<JobState['retry']>;

/** Where a run stands in its current pass, by the names that its recipe gives. */
export type RunView = {
  readonly stages: readonly StageView[];
  readonly calls: readonly CallView[];
  readonly retries: readonly RetryView[];
  readonly queued: number;
  /** Answers that are whole, and how many the pass takes as far as is known now; never less. */
  readonly done: number;
  readonly total: number;
  /** Calls of the pass that have ended: an answer may take several, and some bring none. */
  readonly made: number;
  readonly iteration: number;
};

/** How many calls each `stage/step` of a pass will make, as far as the run is to go. */
export function expectSteps(session: ShownSession): ReadonlyMap<string, number> {
  const { process, lanes, untilStage, writerLaneId } = session;
  const models = lanes.map(({ model }) => model);
  const writer = lanes.findIndex(({ id }) => id === writerLaneId) + 1;
  const calls = foreseeCalls({ process, models, untilStage, writer });
  const steps = Map.groupBy(calls, ({ job }) => `${job.stage}/${job.step}`);
  return new Map([...steps].map(([step, own]) => [step, own.length]));
}

/** What a worker may claim next; jobs that wait for a date after a fault are told as retries. */
const QUEUED: readonly JobStatus[] = ['pending', 'pending_continuation'];

/** Works out what the screen shows of a state. */
export function viewRun(
  session: ShownSession,
  expected: ReadonlyMap<string, number>,
  state: SessionState,
): RunView {
  const rows = countSteps(state);
  const stages = stagesOf(session).map((stage) => viewStage(stage, rows, expected, state));
  const jobs = [...state.jobs.values()].flatMap((job) => {
    const author = job.iteration === state.iteration ? findAuthor(session, job) : undefined;
    return author ? [{ ...author, ...job }] : [];
  });
  const sum = (of: (stage: StageView) => number) =>
    stages.reduce((all, stage) => all + of(stage), 0);
  return {
    stages,
    calls: jobs.filter(({ status }) => status === 'processing'),
    retries: jobs.flatMap(({ participant, title, retry }) =>
      retry === null ? [] : [{ participant, title, ...retry }],
    ),
    queued: jobs.filter(({ status }) => QUEUED.includes(status)).length,
    done: sum(({ done }) => done),
    total: sum(({ total }) => total),
    made: sum(({ calls }) => calls),
    iteration: state.iteration,
  };
}

/** The stages that the run goes through before it rests. */
function stagesOf({ process, untilStage }: ShownSession): readonly Stage[] {
  const last = process.stages.findIndex((stage) => stage.key === untilStage);
  return process.stages.slice(0, last < 0 ? undefined : last + 1);
}

const callsModel = ({ skip, compute }: Step): boolean => !skip && compute === null;

function viewStage(
  stage: Stage,
  rows: readonly StepRow[],
  expected: ReadonlyMap<string, number>,
  state: SessionState,
): StageView {
  const { iteration, progress, jobs } = state;
  const planners = [...jobs.values()].filter(
    (job) => job.type === 'PLAN' && job.stage === stage.key && job.iteration === iteration,
  );
  const lanes = [...new Set(planners.flatMap(({ lane }) => lane ?? []))].toSorted((a, b) => a - b);
  const mark = markStage(
    progress.has(`${iteration}/${stage.key}`),
    planners.findLast(({ lane }) => lane === null)?.status,
  );
  const steps = stage.steps.filter(callsModel).map((step): StepView => {
    const own = rows.filter((row) => row.stage === stage.key && row.step === step.key);
    const done = own.reduce((sum, row) => sum + row.done, 0);
    const open = own.reduce((sum, row) => sum + row.running + row.failed, 0);
    const planned = expected.get(`${stage.key}/${step.key}`) ?? 0;
    const marks = lanes.map((ordinal) => {
      const of = progress.get(`${iteration}/${stage.key}/${step.key}/${ordinal}`);
      return { ordinal, mark: markOf(of) };
    });
    return {
      name: step.name,
      mark: joinMarks(marks.map(({ mark }) => mark)),
      done,
      // A stage that has ended makes no more calls, however many were planned.
      total: mark === 'done' ? done : Math.max(planned, done + open),
      lanes: marks,
    };
  });
  return {
    name: stage.name,
    mark,
    done: steps.reduce((sum, step) => sum + step.done, 0),
    total: steps.reduce((sum, step) => sum + step.total, 0),
    calls: state.calls.get(`${iteration}/${stage.key}`) ?? 0,
    steps,
  };
}

/**
 * The job of a stage ends after its lanes and judges them: `stage-completed` is also told of a stage
 * that one of several lanes completed, and that the job then fails as incomplete.
 */
function markStage(isOpen: boolean, job: JobStatus | undefined): Mark {
  if (job === 'completed') return 'done';
  if (job === 'failed' || job === 'cancelled') return 'failed';
  return isOpen ? 'active' : 'waiting';
}

function markOf(progress: string | undefined): Mark {
  if (progress === undefined) return 'waiting';
  if (progress === 'running') return 'active';
  return progress === 'completed' ? 'done' : 'failed';
}

/** A step is done when it is done for every participant, and has failed when it has for one. */
function joinMarks(marks: readonly Mark[]): Mark {
  if (marks.includes('failed')) return 'failed';
  if (marks.length > 0 && marks.every((mark) => mark === 'done')) return 'done';
  return marks.some((mark) => mark !== 'waiting') ? 'active' : 'waiting';
}

/** Who makes a call and what it writes; undefined for jobs that call no model. */
export function findAuthor(
  { process, lanes }: Pick<ShownSession, 'process' | 'lanes'>,
  place: Pick<JobState, 'type' | 'stage' | 'step' | 'lane'>,
): Authored | undefined {
  const stage = process.stages.find(({ key }) => key === place.stage);
  const step = stage?.steps.find(({ key }) => key === place.step);
  const lane = lanes.find(({ ordinal }) => ordinal === place.lane);
  if (place.type !== 'EXECUTE' || !stage || !step || !lane || !callsModel(step)) return undefined;
  return { participant: nameParticipant(lane, lanes.length), title: nameWork(stage, step) };
}

/** The number and the model without provider and options; the model alone where it is the only one. */
export function nameParticipant(
  { ordinal, model }: { readonly ordinal: number; readonly model: string },
  count: number,
): string {
  const [plain = model] = model.split('?');
  const name = plain.slice(plain.lastIndexOf('/') + 1) || model;
  return count > 1 ? `${ordinal} ${name}` : name;
}

/** The title of the document; notes that only later prompts read go by the name of their step. */
export const nameWork = (stage: Stage, step: Step): string =>
  step.output.kind === 'document' ? describeDocument(stage, step).title : step.name;

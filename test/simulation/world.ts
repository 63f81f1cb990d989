import type { Gate } from '../../src/jobs/sessions.ts';
import { isOver, type JobRole, type JobStatus } from '../../src/jobs/transitions.ts';
import type { DependencyPolicy, NewJob } from '../../src/jobs/types.ts';

/** A job to insert, as a history names it: tenant and session are the history's own. */
export type SimJob = Omit<NewJob, 'sessionId' | 'payload' | 'id'> & {
  readonly id: string;
};

/** A job of the model: the columns that the rules are about. */
export type ModelJob = {
  readonly id: string;
  readonly seq: number;
  readonly type: NewJob['type'];
  readonly role: JobRole;
  readonly counts: boolean;
  readonly parent: string | null;
  readonly prerequisite: string | null;
  readonly chain: string;
  readonly stageRun: string | null;
  readonly lane: string | null;
  readonly step: string | null;
  readonly policy: DependencyPolicy;
  readonly quorum: number | null;
  readonly maxAttempts: number;
  status: JobStatus;
  continued: boolean;
  /** Whether it is completed with its children, without running again. */
  endsWithChildren: boolean;
  degraded: boolean;
  attempt: number;
  takeovers: number;
  runAfter: number;
  worker: string | null;
  token: number | null;
  leaseUntil: number;
  error: string | null;
  /** What its commits have written: stands for rows of its own. */
  progress: number;
  started: boolean;
  /** The stage run's version at which it decided to wait for lanes. */
  waitsAt: number;
};

export type LaneStep = {
  state: 'waiting' | 'running' | 'completed' | 'failed';
  degraded: boolean;
};

export type StageRun = {
  state: 'running' | 'completed' | 'failed' | 'cancelled';
  version: number;
  degraded: boolean;
  /** By lane and step: `lane/step`. */
  readonly steps: Map<string, LaneStep>;
  /** The lanes' roots. */
  readonly roots: ModelJob[];
};

/** Who runs what: a claim of one job. It stays here after the lease is gone, as a zombie would. */
export type Execution = { readonly job: ModelJob; readonly token: number };

/** One session as the database would hold it, with a clock of its own. */
export type World = {
  now: number;
  seq: number;
  tokens: number;
  status: 'running' | 'failed' | 'cancelled';
  readonly maxRunning: number | null;
  readonly gates: Set<Gate>;
  readonly jobs: Map<string, ModelJob>;
  readonly live: Set<ModelJob>;
  readonly children: Map<string, ModelJob[]>;
  readonly waiters: Map<string, ModelJob[]>;
  readonly chains: Map<string, ModelJob[]>;
  readonly stageRuns: Map<string, StageRun>;
  readonly executions: Execution[];
  /** Hears every change of status, in order. */
  onChange: (job: ModelJob, from: JobStatus) => void;
};

export const LEASE_MS = 30_000;
export const START = Date.UTC(2030, 0, 1);

export function createWorld(maxRunning: number | null, now = START): World {
  return {
    now,
    seq: 0,
    tokens: 0,
    status: 'running',
    maxRunning,
    gates: new Set(),
    jobs: new Map(),
    live: new Set(),
    children: new Map(),
    waiters: new Map(),
    chains: new Map(),
    stageRuns: new Map(),
    executions: [],
    onChange: () => {},
  };
}

/** A refusal with the code that the engine gives. */
export class Refusal extends Error {
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

export function addTo<T>(index: Map<string, T[]>, key: string | null, value: T): void {
  if (key === null) return;
  const list = index.get(key);
  if (list) list.push(value);
  else index.set(key, [value]);
}

export const countedChildren = (world: World, id: string): ModelJob[] =>
  (world.children.get(id) ?? []).filter((child) => child.counts);

export const hasLiveChild = (world: World, id: string): boolean =>
  countedChildren(world, id).some((child) => !isOver(child.status));

/** The link that stands for the whole chain. */
export const lastLink = (world: World, chain: string): ModelJob =>
  world.chains.get(chain)!.find((link) => !link.continued)!;

export const succeeded = ({ status }: ModelJob): boolean =>
  status === 'completed' || status === 'superseded';

/** What plans the steps of a lane. */
export const isLaneRoot = ({ role }: ModelJob): boolean => role === 'lane';

export const parentOf = (world: World, job: ModelJob): ModelJob | undefined =>
  job.parent === null ? undefined : world.jobs.get(job.parent);

export type StepCount = {
  step: string | null;
  open: number;
  succeeded: number;
  needed: number;
  lost: boolean;
};

/** How the steps under a parent stand; a chain is its last link. */
export function stepsUnder(world: World, parent: string): StepCount[] {
  const groups = Map.groupBy(
    countedChildren(world, parent).filter((child) => !child.continued),
    (child) => child.step,
  );
  return [...groups].map(([step, jobs]) => {
    const { policy, quorum } = jobs[0]!;
    const majority = Math.floor(jobs.length / 2) + 1;
    const needed = { all: jobs.length, any: 1, quorum: quorum ?? majority }[policy];
    const count = (test: (job: ModelJob) => boolean) => jobs.filter(test).length;
    return {
      step,
      open: count((job) => !isOver(job.status)),
      succeeded: count(succeeded),
      needed,
      lost: jobs.some((job) => job.status === 'failed' || job.status === 'cancelled'),
    };
  });
}

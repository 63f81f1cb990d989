import { createHash } from 'node:crypto';
import type { JobStatus } from '../../src/jobs/transitions.ts';
import { drawSkew, feelsDue, hire, type SimWorker, type Task } from './fleet.ts';
import { checkChange, checkEnd, checkRest } from './invariants.ts';
import { CLAIMABLE } from './job-status.ts';
import { apply, type Operation, type Outcome } from './operations.ts';
import { drawGroups, drawShape, type Group } from './plans.ts';
import { decide, openGroup, type Program } from './programs.ts';
import { type Chance, chanceOf } from './random.ts';
import { createWorld, type ModelJob, type World } from './world.ts';

export type Simulated = {
  readonly seed: number;
  readonly hash: string;
  readonly world: World;
  readonly history: readonly Operation[];
  /** How often each kind of thing happened, to see that runs are not all alike. */
  readonly seen: ReadonlyMap<string, number>;
};

export type SimulationOptions = { readonly mostJobs?: number };

const MOST_STEPS = 60_000;

/** Runs one random history to its end; throws, naming the seed, when a rule is broken. */
export function simulate(seed: number, options: SimulationOptions = {}): Simulated {
  const simulation = new Simulation(seed, options.mostJobs ?? 200);
  try {
    return simulation.run();
  } catch (error) {
    const step = simulation.history.length;
    const failure = new Error(`seed ${seed}, step ${step}: ${(error as Error).message}`, {
      cause: error,
    });
    throw Object.assign(failure, { history: simulation.history });
  }
}

class Simulation {
  readonly history: Operation[] = [];
  readonly #seed: number;
  readonly #chance: Chance;
  readonly #world: World;
  readonly #groups: Group[];
  readonly #size: number;
  readonly #programs = new Map<string, Program>();
  readonly #planned = new Map<string, string>();
  readonly #firstRoots: string[] = [];
  readonly #effects = new Set<string>();
  readonly #seen = new Map<string, number>();
  readonly #hash = createHash('sha1');
  #workers: SimWorker[] = [];
  #tasks: Task[] = [];
  #ids = 0;
  #troubled = true;

  constructor(seed: number, mostJobs: number) {
    this.#seed = seed;
    this.#chance = chanceOf(seed);
    const shape = drawShape(this.#chance, mostJobs);
    this.#size = shape.jobs;
    this.#groups = drawGroups(this.#chance, shape);
    const limit = this.#chance.happens(0.2) ? this.#chance.between(1, 4) : null;
    this.#world = createWorld(limit);
    this.#world.onChange = (job, from) => this.#heard(job, from);
    for (let n = this.#chance.between(1, 5); n > 0; n--) this.#hire();
  }

  run(): Simulated {
    this.#openNextGroup();
    const steps = 30 + this.#size * 8;
    for (let step = 0; step < steps && !this.#isOver(); step++) this.#step();
    this.#troubled = false;
    this.#drain();
    checkEnd(this.#world);
    return {
      seed: this.#seed,
      hash: this.#hash.digest('hex'),
      world: this.#world,
      history: this.history,
      seen: this.#seen,
    };
  }

  #isOver = (): boolean =>
    this.#firstRoots.length === this.#groups.length && this.#world.live.size === 0;

  #newId = (): string => {
    const number = (++this.#ids).toString(16).padStart(12, '0');
    return `${this.#seed.toString(16).padStart(8, '0')}-0000-7000-8000-${number}`;
  };

  #hire(): void {
    this.#workers.push(hire(this.#chance, this.#newId(), this.#world.now));
  }

  /** Runs an operation, notes it and holds the rules against what it did. */
  #do(operation: Operation): Outcome {
    const before = this.#isStale(operation) ? this.#image() : undefined;
    const outcome = apply(this.#world, operation);
    this.history.push(operation);
    this.#hash.update(`${JSON.stringify(operation)}${outcome}\n`);
    this.#note(operation.op);
    if (before !== undefined) {
      this.#note('stale');
      if (this.#image() !== before) throw new Error('a worker without its lease changed something');
    }
    checkRest(this.#world);
    return outcome;
  }

  #isStale(operation: Operation): boolean {
    const stale = (number: number): boolean => {
      const { job, token } = this.#world.executions[number]!;
      return job.status !== 'processing' || job.token !== token;
    };
    if (operation.op === 'beat') return false;
    if ('execution' in operation) return stale(operation.execution);
    return 'executions' in operation && operation.executions.every(stale);
  }

  #image(): string {
    const { jobs, stageRuns, gates } = this.#world;
    const steps = [...stageRuns.values()].map((run) => [run.version, run.state, ...run.steps]);
    return JSON.stringify([[...jobs.values()], steps, [...gates]]);
  }

  #heard(job: ModelJob, from: JobStatus): void {
    checkChange(this.#world, job, from);
    this.#hash.update(`${job.id} ${from} ${job.status}\n`);
    this.#note(`${from} → ${job.status}`);
    if (job.error) this.#note(job.error);
    const link = job.chain === job.id ? '' : ' link';
    const waits = job.prerequisite === null ? '' : ' waiter';
    const error = job.error ?? '';
    this.#note(`${job.type}${link}${waits} ${job.policy}: ${from} → ${job.status} ${error}`);
    if (job.status === 'completed') this.#effect(`${job.id} ended`);
  }

  #note(what: string): void {
    this.#seen.set(what, (this.#seen.get(what) ?? 0) + 1);
  }

  #effect(what: string): void {
    if (this.#effects.has(what)) throw new Error(`an effect happened twice: ${what}`);
    this.#effects.add(what);
  }

  #step(): void {
    const action = this.#chance.weigh({
      claim: 20,
      decide: 30,
      act: 30,
      wait: 12,
      begin: 2,
      freeze: 1,
      thaw: 2,
      crash: 1,
      haunt: 1,
      jump: 1,
      gate: 1,
      open: 3,
      retry: 0.7,
      supersede: 0.5,
      edit: 1,
      leave: 0.5,
      restart: 0.2,
      cancel: 0.04,
    });
    const { [action]: act } = this.#actions;
    act();
  }

  readonly #actions = {
    claim: () => this.#claim(this.#chance.between(1, 5)),
    decide: () => {
      const task = this.#pickTask();
      if (task) this.#decide(task);
    },
    act: () => {
      const task = this.#pickTask((candidate) => candidate.decision !== undefined);
      if (task) this.#act(task);
    },
    wait: () => this.#wait(this.#chance.pick([1, 50, 400, 2_000, 11_000, 35_000, 90_000])),
    begin: () => this.#openNextGroup(),
    freeze: () => void (this.#chance.pick(this.#workers).frozen = true),
    thaw: () => void (this.#chance.pick(this.#workers).frozen = false),
    crash: () => this.#crash(),
    haunt: () => this.#haunt(),
    jump: () => void (this.#chance.pick(this.#workers).skewMs = drawSkew(this.#chance)),
    gate: () =>
      void this.#do({ op: 'gate', gate: this.#chance.pick(['user', 'budget', 'storage']) }),
    open: () => void this.#do({ op: 'open', gate: this.#chance.pick(['user', 'budget', null]) }),
    retry: () => this.#retry(),
    supersede: () => this.#supersede(),
    edit: () => this.#edit(),
    leave: () => this.#leave(),
    restart: () => {
      this.#do({ op: 'restart' });
      if (this.#chance.happens(0.5)) this.#tasks = [];
    },
    cancel: () => {
      if (this.#world.status === 'running') this.#do({ op: 'cancel' });
    },
  };

  #pickTask(test: (task: Task) => boolean = () => true): Task | undefined {
    const ready = this.#tasks.filter((task) => !task.worker.frozen && test(task));
    return ready.length > 0 ? this.#chance.pick(ready) : undefined;
  }

  #openNextGroup(): void {
    const group = this.#groups[this.#firstRoots.length];
    if (!group || this.#world.status === 'cancelled') return;
    const { operations, born } = openGroup(group, this.#newId, (n) => this.#firstRoots[n]!);
    this.#firstRoots.push(born[0]![0]);
    for (const [id, program] of born) this.#programs.set(id, program);
    for (const operation of operations) this.#do(operation);
  }

  #claim(batch: number): void {
    const worker = this.#chance.pick(this.#workers);
    const room = worker.slots - this.#tasks.filter((task) => task.worker === worker).length;
    if (worker.frozen || room <= 0) return;
    const first = this.#world.executions.length;
    this.#do({ op: 'claim', worker: worker.id, batch: Math.min(batch, room) });
    for (const [n, execution] of this.#world.executions.slice(first).entries()) {
      this.#tasks.push({ number: first + n, execution, worker, decision: undefined });
    }
  }

  /** The handler reads and makes up its mind; much may happen before it commits. */
  #decide(task: Task): void {
    const { job } = task.execution;
    task.decision = decide(
      {
        world: this.#world,
        chance: this.#chance,
        troubled: this.#troubled,
        newId: this.#newId,
        planned: this.#planned,
      },
      job,
      this.#programs.get(job.id)!,
    );
  }

  #act(task: Task): void {
    this.#tasks = this.#tasks.filter((other) => other !== task);
    const operation = task.decision!.operation(task.number);
    if (operation.op === 'complete') return this.#completeTogether(task);
    const outcome = this.#do(operation);
    if (operation.op !== 'commit' || outcome !== 'done') return;
    const { progress } = operation.effects;
    if (progress !== undefined) this.#effect(`${task.execution.job.id} wrote ${progress}`);
    for (const [id, program] of task.decision!.born) this.#programs.set(id, program);
    for (const [name, id] of task.decision!.names) this.#planned.set(name, id);
  }

  /** A worker's completions without effects go as one statement. */
  #completeTogether(task: Task): void {
    const others = this.#tasks.filter(
      (other) =>
        other.worker === task.worker && other.decision?.operation(other.number).op === 'complete',
    );
    const together = [task, ...others.filter(() => this.#chance.happens(0.7))];
    this.#tasks = this.#tasks.filter((other) => !together.includes(other));
    this.#do({ op: 'complete', executions: together.map(({ number }) => number) });
  }

  #wait(ms: number): void {
    this.#do({ op: 'wait', ms });
    for (const worker of this.#workers) {
      if (!feelsDue(worker, this.#world.now)) continue;
      const mine = this.#tasks.filter((task) => task.worker === worker);
      if (mine.length === 0 || this.#chance.happens(0.1)) continue;
      this.#do({ op: 'beat', worker: worker.id, executions: mine.map(({ number }) => number) });
    }
  }

  #crash(): void {
    const dead = this.#chance.pick(this.#workers);
    this.#workers = this.#workers.filter((worker) => worker !== dead);
    this.#tasks = this.#tasks.filter((task) => task.worker !== dead);
    this.#hire();
  }

  /** Somebody who finished, or lost its lease, long ago says so once more. */
  #haunt(): void {
    if (this.#world.executions.length === 0) return;
    const number = this.#chance.between(0, this.#world.executions.length - 1);
    if (this.#tasks.some((task) => task.number === number)) return;
    const { job, token } = this.#world.executions[number]!;
    if (job.token === token) return; // its worker died and nobody has taken over yet
    const fault = { retryable: this.#chance.happens(0.5), retryAfterMs: 0, sent: true };
    const child = { id: this.#newId(), type: 'EXECUTE' } as const;
    this.#do(
      this.#chance.pick<Operation>([
        { op: 'complete', executions: [number] },
        { op: 'commit', execution: number, effects: { progress: 99, children: [child] } },
        { op: 'fail', execution: number, fault },
        { op: 'hand-back', executions: [number] },
      ]),
    );
  }

  #retry(mended = 0.5): void {
    if (this.#world.status === 'cancelled') return;
    this.#do({ op: 'retry' });
    for (const program of this.#programs.values()) {
      program.mended ||= this.#chance.happens(mended);
    }
  }

  #supersede(): void {
    const jobs = [...this.#world.jobs.keys()];
    if (jobs.length > 0) this.#do({ op: 'supersede', job: this.#chance.pick(jobs) });
  }

  /** Somebody adds a job in the middle: one that waits for another, or one under a running PLAN. */
  #edit(): void {
    const jobs = [...this.#world.jobs.values()];
    if (jobs.length === 0 || this.#world.status !== 'running') return;
    const other = this.#chance.pick(jobs);
    const id = this.#newId();
    const plan = {
      ...this.#groups[0]!.lanes[0]!,
      type: 'EXECUTE' as const,
      waves: [],
      links: 0,
      failsAt: 0,
    };
    const program = { plan, links: 0, lanes: [], mended: false };
    const planner = other.type === 'PLAN' && other.progress > 0;
    const outcome = this.#do({
      op: 'enqueue',
      jobs: [
        planner
          ? {
              id,
              type: 'EXECUTE',
              parentId: other.id,
              policy: 'any',
              stepKey: 'extra',
              stageRunId: other.stageRun,
              laneId: other.lane,
            }
          : { id, type: 'EXECUTE', prerequisiteId: other.chain },
      ],
    });
    if (outcome === 'done') this.#programs.set(id, program);
    else this.#note(outcome);
  }

  /** A worker stops in peace and hands back what it runs. */
  #leave(): void {
    const worker = this.#chance.pick(this.#workers);
    const mine = this.#tasks.filter((task) => task.worker === worker);
    if (mine.length === 0) return;
    this.#tasks = this.#tasks.filter((task) => task.worker !== worker);
    this.#do({ op: 'hand-back', executions: mine.map(({ number }) => number) });
  }

  /** No more trouble: everything that can end must end. */
  #drain(): void {
    while (this.#firstRoots.length < this.#groups.length && this.#world.status !== 'cancelled') {
      this.#openNextGroup();
    }
    for (const worker of this.#workers) worker.frozen = false;
    for (let step = 0; step < MOST_STEPS; step++) {
      for (const task of this.#tasks) {
        if (!this.#tasks.includes(task)) continue;
        if (!task.decision) this.#decide(task);
        this.#act(task);
      }
      if (this.#world.live.size === 0) return;
      // What a failed session still holds goes on when a person has mended it.
      if (this.#world.status === 'failed') this.#retry(1);
      if (this.#world.gates.size > 0) this.#do({ op: 'open', gate: null });
      const before = this.#world.executions.length;
      this.#claim(6);
      if (this.#world.executions.length === before && !this.#waitForNext()) return;
    }
    throw new Error('the run does not end');
  }

  /** Goes to the next moment at which something can happen; false if there is none. */
  #waitForNext(): boolean {
    const { live, now } = this.#world;
    const moments = [...live]
      .flatMap((job) => {
        if (job.status === 'processing') return [job.leaseUntil + 1];
        return CLAIMABLE.includes(job.status) ? [job.runAfter] : [];
      })
      .filter((moment) => moment > now);
    if (moments.length > 0) this.#do({ op: 'wait', ms: Math.min(...moments) - now });
    return moments.length > 0;
  }
}

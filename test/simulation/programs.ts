import type { SimEffects, SimFault } from './model.ts';
import type { Operation } from './operations.ts';
import type { Group, Plan } from './plans.ts';
import type { Chance } from './random.ts';
import {
  hasLiveChild,
  type LaneStep,
  type ModelJob,
  type SimJob,
  type StageRun,
  type World,
} from './world.ts';

/** What the simulator knows of a job beside its row: its program. */
export type Program = {
  readonly plan: Plan;
  readonly links: number;
  /** The lanes of its stage run, if it is the root of one. */
  readonly lanes: readonly string[];
  mended: boolean;
};

/** What a handler may ask while it decides. */
export type Setting = {
  readonly world: World;
  readonly chance: Chance;
  /** Whether faults still happen; at the end of a run they have stopped. */
  readonly troubled: boolean;
  readonly newId: () => string;
  /** Ids of planned children, by `parent/wave/index`. */
  readonly planned: ReadonlyMap<string, string>;
};

/** Decides what a job does now: the handlers of the simulated program, as pure decisions. */
export type Decision = {
  readonly operation: (execution: number) => Operation;
  /** Programs of the jobs that come to be if it succeeds. */
  readonly born: readonly (readonly [string, Program])[];
  readonly names: readonly (readonly [string, string])[];
};

const PERMANENT: SimFault = { retryable: false, retryAfterMs: 0, sent: true };

export function decide(setting: Setting, job: ModelJob, program: Program): Decision {
  const { chance, troubled } = setting;
  const { plan } = program;
  const hopeless = plan.trouble === 'hopeless' && !program.mended;
  if (hopeless && program.links === plan.failsAt) return failing(PERMANENT);
  if (plan.trouble === 'flaky' && troubled && chance.happens(0.4)) {
    const retryAfterMs = chance.between(0, 20_000);
    return failing({ retryable: true, retryAfterMs, sent: chance.happens(0.9) });
  }
  if (troubled && chance.happens(0.01)) {
    return committing({ next: { pause: chance.pick(['funds', 'budget', 'approval'] as const) } });
  }
  return plan.type === 'PLAN'
    ? decidePlan(setting, job, program)
    : decideLeaf(setting, job, program);
}

function decideLeaf({ chance, newId }: Setting, job: ModelJob, program: Program): Decision {
  const { plan, links } = program;
  if (links > 0) {
    const id = newId();
    const next = { ...program, links: links - 1 };
    return committing({ progress: 1, continuation: { id, type: plan.type } }, [[id, next]]);
  }
  if (plan.renders) {
    const id = newId();
    const drawing = { ...plan, type: 'RENDER' as const, renders: false };
    const program = { plan: drawing, links: 0, lanes: [], mended: false };
    return committing({ progress: 1, children: [{ id, type: 'RENDER', stepKey: job.step }] }, [
      [id, program],
    ]);
  }
  if (chance.happens(0.5)) return committing({ progress: 1 });
  return {
    operation: (execution) => ({ op: 'complete', executions: [execution] }),
    born: [],
    names: [],
  };
}

function decidePlan(setting: Setting, job: ModelJob, program: Program): Decision {
  const { world } = setting;
  const { waves } = program.plan;
  const wave = waves[job.progress];
  if (!wave) {
    return hasLiveChild(world, job.id)
      ? committing({ next: { waitFor: 'children' } })
      : committing({});
  }
  const run = job.stageRun === null ? undefined : world.stageRuns.get(job.stageRun)!;
  const wait = { waitFor: 'lanes', version: run?.version ?? 0 } as const;
  const standing = (step: string) => (run ? standingAt(run, program.lanes, step) : 'completed');
  if (wave.barrier) {
    const state = standing(wave.barrier.step);
    if (state === 'running') return committing({ next: wait });
    if (state === 'failed' && wave.barrier.onFailure === 'fail') return failing(PERMANENT);
  }
  const here = new Map<string, string>();
  const born: [string, Program][] = [];
  const lanes = wave.startsLanes ? wave.children.map(setting.newId) : [];
  const children = wave.children.map((plan, index): SimJob => {
    const id = setting.newId();
    const name = `${job.id}/${job.progress}/${index}`;
    here.set(name, id);
    born.push([id, { plan, links: plan.links, lanes, mended: false }]);
    const { waitsFor } = plan;
    const first = waitsFor && `${job.id}/${waitsFor.wave}/${waitsFor.index}`;
    const sibling = first && (here.get(first) ?? setting.planned.get(first));
    const row = { ...rowOf(id, plan), prerequisiteId: sibling ?? null };
    if (!wave.startsLanes) return { ...row, stepKey: wave.step };
    return { ...row, role: 'lane', laneId: lanes[index]! };
  });
  const next = waves[job.progress + 1]?.barrier;
  const overlaps = wave.overlaps && next && standing(next.step) === 'running';
  const isLast = job.progress + 1 === waves.length;
  const thenEnd = isLast && setting.chance.happens(0.5);
  const effects: SimEffects = {
    progress: job.progress + 1,
    children,
    next: overlaps ? wait : { waitFor: 'children', thenEnd },
  };
  return committing(effects, born, [...here]);
}

/** Whether a step has ended in every lane; it has failed where it failed in one of them. */
function standingAt(run: StageRun, lanes: readonly string[], step: string): LaneStep['state'] {
  const states = lanes.map((lane) =>
    run.steps.get(`${lane}/*`)?.state === 'failed'
      ? 'failed'
      : (run.steps.get(`${lane}/${step}`)?.state ?? 'running'),
  );
  if (states.includes('running')) return 'running';
  return states.includes('failed') ? 'failed' : 'completed';
}

function rowOf(id: string, { type, policy, quorum, maxAttempts }: Plan): SimJob {
  return { id, type, policy, quorum, maxAttempts };
}

function committing(
  effects: SimEffects,
  born: Decision['born'] = [],
  names: Decision['names'] = [],
): Decision {
  return { operation: (execution) => ({ op: 'commit', execution, effects }), born, names };
}

function failing(fault: SimFault): Decision {
  return { operation: (execution) => ({ op: 'fail', execution, fault }), born: [], names: [] };
}

/** The first jobs of a group, with the stage run that its lanes share. */
export function openGroup(
  group: Group,
  newId: () => string,
  firstRootOf: (group: number) => string,
): { operations: Operation[]; born: Decision['born'] } {
  const stageRunId = group.staged ? newId() : null;
  const prerequisiteId = group.waitsFor === null ? null : firstRootOf(group.waitsFor);
  const roots = group.head ? [group.head] : group.lanes;
  const lanes = group.staged && !group.head ? roots.map(newId) : [];
  const born = roots.map((plan) => {
    return [newId(), { plan, links: plan.links, lanes, mended: false }] as const;
  });
  const jobs = born.map(([id, { plan }], n): SimJob => {
    const role = group.staged ? (group.head ? 'stage' : 'lane') : 'step';
    return { ...rowOf(id, plan), role, stageRunId, laneId: lanes[n] ?? null, prerequisiteId };
  });
  const stageRun: Operation[] = stageRunId ? [{ op: 'stage-run', id: stageRunId }] : [];
  return { operations: [...stageRun, { op: 'enqueue', jobs }], born };
}

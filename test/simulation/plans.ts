import type { DependencyPolicy } from '../../src/jobs/types.ts';
import type { Chance } from './random.ts';

/** What a job will do when it runs: the random program of one node of the graph. */
export type Plan = {
  readonly type: 'PLAN' | 'EXECUTE' | 'RENDER';
  readonly policy: DependencyPolicy;
  readonly quorum: number | null;
  readonly maxAttempts: number;
  /** flaky: a passing fault now and then; hopeless: fails for good until a person mends it. */
  readonly trouble: 'none' | 'flaky' | 'hopeless';
  /** How many continuations its answer takes. */
  readonly links: number;
  /** How many links are still to come when a hopeless one fails. */
  readonly failsAt: number;
  /** Whether it leaves a RENDER job behind. */
  readonly renders: boolean;
  /** A job of the same parent, planned with it or before it, that must have succeeded. */
  readonly waitsFor: { readonly wave: number; readonly index: number } | null;
  readonly waves: readonly Wave[];
};

/** The jobs that a PLAN inserts at once. */
type Wave = {
  readonly step: string;
  readonly children: readonly Plan[];
  /** A step that every lane must have ended before. */
  readonly barrier: { readonly step: string; readonly onFailure: 'fail' | 'go-on' } | null;
  /** Whether the PLAN waits for other lanes next, while these children still run. */
  readonly overlaps: boolean;
  /** Whether the children are the roots of a stage's lanes. */
  readonly startsLanes?: boolean;
};

/** Roots that belong together: the lanes of one stage run, or one job on its own. */
export type Group = {
  readonly staged: boolean;
  /** A job that stands for the stage, above the lanes' roots. */
  readonly head: Plan | null;
  readonly lanes: readonly Plan[];
  /** An earlier group; the roots wait for its first root. */
  readonly waitsFor: number | null;
};

type Budget = { jobs: number };
type Skeleton = Pick<Wave, 'step' | 'barrier' | 'overlaps'>;

/** How large and how troubled a run is; drawn once for each. */
export type Shape = {
  readonly jobs: number;
  readonly depth: number;
  readonly trouble: number;
};

export function drawShape(chance: Chance, most: number): Shape {
  // Most runs are small, since small ones show most faults; a few are as large as allowed.
  const jobs = 1 + Math.floor(most * chance.next() ** 3);
  return { jobs, depth: chance.between(1, 4), trouble: chance.pick([0, 0.02, 0.1, 0.3]) };
}

export function drawGroups(chance: Chance, shape: Shape): Group[] {
  const budget: Budget = { jobs: shape.jobs };
  const groups: Group[] = [];
  while (budget.jobs > 0) {
    const staged = budget.jobs > 3 && chance.happens(0.6);
    const waitsFor =
      groups.length > 0 && chance.happens(0.3) ? chance.between(0, groups.length - 1) : null;
    const lanes = drawLanes(chance, shape, budget, staged);
    const head = staged && chance.happens(0.5) ? drawHead(chance, shape, lanes) : null;
    groups.push({ staged, waitsFor, lanes, head });
    if (groups.length >= 6) break;
  }
  return groups;
}

function drawLanes(chance: Chance, shape: Shape, budget: Budget, staged: boolean): Plan[] {
  if (!staged) {
    budget.jobs--;
    return [drawPlan(chance, shape, budget, { name: 's', depth: shape.depth, policy: 'all' })];
  }
  const count = Math.min(chance.between(1, 5), budget.jobs);
  budget.jobs -= count;
  const skeleton = drawSkeleton(chance);
  return Array.from({ length: count }, () => {
    const waves = skeleton.map((wave) =>
      withWork(chance, shape, fillWave(chance, shape, budget, wave, shape.depth)),
    );
    const base = drawLeaf(chance, shape, 'all', null);
    return { ...base, type: 'PLAN', links: 0, failsAt: 0, renders: false, waitsFor: null, waves };
  });
}

/** A step of a lane has a job that counts: planning refuses one that would have none. */
function withWork(chance: Chance, shape: Shape, wave: Wave): Wave {
  if (wave.children.some(({ type }) => type !== 'RENDER')) return wave;
  const job: Plan = { ...drawLeaf(chance, shape, 'all', null), type: 'EXECUTE' };
  return { ...wave, children: [...wave.children, job] };
}

function drawHead(chance: Chance, shape: Shape, lanes: readonly Plan[]): Plan {
  const policy = chance.pick<DependencyPolicy>(['any', 'any', 'all', 'quorum']);
  const children = lanes.map((lane) => ({ ...lane, policy }));
  const wave = { step: '', children, barrier: null, overlaps: false, startsLanes: true };
  const base = drawLeaf(chance, shape, 'all', null);
  return { ...base, type: 'PLAN', links: 0, failsAt: 0, renders: false, waves: [wave] };
}

/** The steps that all lanes of a stage share, with barriers between them. */
function drawSkeleton(chance: Chance): Skeleton[] {
  const count = chance.between(1, 4);
  return Array.from({ length: count }, (_, n) => {
    const barrier =
      n > 0 && chance.happens(0.5)
        ? {
            step: `s${chance.between(0, n - 1)}`,
            onFailure: chance.pick(['fail', 'go-on'] as const),
          }
        : null;
    return { step: `s${n}`, barrier, overlaps: chance.happens(0.3) };
  });
}

function fillWave(
  chance: Chance,
  shape: Shape,
  budget: Budget,
  skeleton: Skeleton,
  depth: number,
): Wave {
  const wanted = chance.happens(0.1) ? 0 : chance.between(1, chance.happens(0.2) ? 20 : 4);
  const count = Math.max(0, Math.min(wanted, budget.jobs));
  budget.jobs -= count;
  const policy = chance.pick<DependencyPolicy>(['all', 'all', 'quorum', 'any']);
  const quorum = policy === 'quorum' && chance.happens(0.5) ? chance.between(1, count + 1) : null;
  const n = Number(skeleton.step.match(/\d+$/)?.[0] ?? 0);
  const children = Array.from({ length: count }, (_, index) => {
    const child = drawPlan(chance, shape, budget, {
      name: `${skeleton.step}.${index}`,
      depth: depth - 1,
      policy,
      quorum,
    });
    return { ...child, waitsFor: drawSibling(chance, n, index) };
  });
  return { ...skeleton, children };
}

function drawSibling(chance: Chance, wave: number, index: number): Plan['waitsFor'] {
  if (!chance.happens(0.15)) return null;
  if (wave > 0 && chance.happens(0.3)) return { wave: chance.between(0, wave - 1), index: 0 };
  return index > 0 ? { wave, index: chance.between(0, index - 1) } : null;
}

type Node = { name: string; depth: number; policy: DependencyPolicy; quorum?: number | null };

function drawPlan(chance: Chance, shape: Shape, budget: Budget, node: Node): Plan {
  const leaf = drawLeaf(chance, shape, node.policy, node.quorum ?? null);
  if (node.depth <= 0 || budget.jobs <= 0 || !chance.happens(0.4)) return leaf;
  const waves = Array.from({ length: chance.between(1, 3) }, (_, n) =>
    fillWave(
      chance,
      shape,
      budget,
      { step: `${node.name}-${n}`, barrier: null, overlaps: false },
      node.depth,
    ),
  );
  return { ...leaf, type: 'PLAN', links: 0, failsAt: 0, renders: false, waves };
}

function drawLeaf(
  chance: Chance,
  shape: Shape,
  policy: DependencyPolicy,
  quorum: number | null,
): Plan {
  const troubled = chance.happens(shape.trouble);
  const links = chance.happens(0.15) ? chance.between(1, 4) : 0;
  return {
    type: chance.happens(0.08) ? 'RENDER' : 'EXECUTE',
    policy,
    quorum,
    maxAttempts: chance.between(1, 5),
    trouble: troubled ? 'hopeless' : chance.pick(['none', 'none', 'none', 'flaky']),
    links,
    failsAt: chance.between(0, links),
    renders: chance.happens(0.1),
    waitsFor: null,
    waves: [],
  };
}

import { hash } from 'node:crypto';
import type { ExecutePayload } from '../generation/chain.ts';
import type { ChildJob } from '../jobs/context.ts';
import type { StageStanding } from '../jobs/lanes.ts';
import { planStep } from '../planning/plan-step.ts';
import { findReadySteps, type Readiness } from '../planning/ready.ts';
import type { PlannedJob, SourceDocument } from '../planning/types.ts';
import { newId } from '../platform/ids.ts';
import { stageOf, stepOf } from '../recipe/edges.ts';
import { toLaneStates } from '../session/lane-states.ts';
import type { LaneStart } from '../session/open-stage.ts';
import type { PlanningView } from '../session/planning-view.ts';
import { laneOf, type SessionView } from '../session/read.ts';
import { canonicalJson } from '../text/canonical-json.ts';
import { jobDocument } from './job-document.ts';
import { type PlanEntry, planAhead } from './plan-ahead.ts';
import { providerKey } from './provider-limits.ts';

/** A lane in one of its stages. */
type LanePlace = { readonly stageKey: string; readonly laneId: string };

/** What a lane does next: jobs for the steps that are ready, if there are any. */
type Wave = LaneStart & { readonly readiness: Readiness };

type Standing = Pick<StageStanding, 'steps'>;

/** Plans the steps of a lane that are ready, and later ones that only wait for these. */
export function planWave(view: PlanningView, place: LanePlace, standing: Standing): Wave {
  const { stageKey, laneId } = place;
  const { session, stageLanes, excused } = view;
  const { process } = session;
  const request = {
    process,
    stageKey,
    laneId,
    laneIds: stageLanes[stageKey] ?? [],
    states: toLaneStates(process, stageKey, standing),
    excused: excused[stageKey] ?? [],
  };
  const readiness = findReadySteps(request);
  const entries = planEntries(view, request, readiness.ready);
  const children = entries.map((entry) => childOf(session, laneId, entry));
  const { waiting, waitingForLanes, blocked } = readiness;
  const planned = new Set(entries.map((entry) => entry.planned.step));
  const thenEnd = [...waiting, ...waitingForLanes, ...blocked].every((key) => planned.has(key));
  return { readiness, children, thenEnd };
}

/**
 * The same for a lane of a stage that opens. Null where the lane can do nothing yet or cannot be
 * planned: its own job then finds that out, and tells it.
 */
export function planStart(view: PlanningView, place: LanePlace): LaneStart | null {
  try {
    const { children, thenEnd } = planWave(view, place, { steps: new Map() });
    return children.length > 0 ? { children, thenEnd } : null;
  } catch {
    return null;
  }
}

type ReadyRequest = Parameters<typeof findReadySteps>[0];

function planEntries(
  view: PlanningView,
  request: ReadyRequest,
  ready: readonly string[],
): PlanEntry[] {
  if (ready.length === 0) return [];
  const { stageKey, laneId, states } = request;
  const plan = (stepKey: string, beside: readonly SourceDocument[]) =>
    planJobs({ ...view, documents: [...view.documents, ...beside] }, { stageKey, laneId }, stepKey);
  const first = ready.flatMap((stepKey) =>
    plan(stepKey, []).map((planned) => ({ id: newId(), planned })),
  );
  return planAhead(first, {
    stage: stageOf(view.session.process, stageKey),
    plan,
    lookAfter: (planned) => {
      const own = { ...states[laneId], ...planned };
      return findReadySteps({ ...request, states: { ...states, [laneId]: own } });
    },
  });
}

function planJobs(
  view: PlanningView,
  { stageKey, laneId }: LanePlace,
  stepKey: string,
): readonly PlannedJob[] {
  const { session, stageLanes, documents, labelSeed, losses } = view;
  const { jobs } = planStep({
    process: session.process,
    stageKey,
    stepKey,
    lane: laneOf(session, laneId),
    lanes: session.lanes,
    stageLanes,
    iteration: session.iteration,
    labelSeed,
    documents,
    losses,
  });
  return jobs;
}

function childOf(
  session: SessionView,
  laneId: string,
  { id, planned, awaits, prerequisiteId }: PlanEntry,
): ChildJob {
  const step = stepOf(stageOf(session.process, planned.stage), planned.step);
  const [provider = ''] = laneOf(session, laneId).model.split('/');
  const document = jobDocument(planned);
  // A lineage that begins with what the job awaits has no name yet.
  const isOpen = awaits?.some((one) => document.sourceGroup === one.contributionId) ?? false;
  const payload: ExecutePayload = { planned, ...(awaits && { awaits }) };
  return {
    id,
    ...(prerequisiteId !== undefined && { prerequisiteId }),
    type: 'EXECUTE',
    stepKey: planned.step,
    policy: step.dependencyPolicy,
    quorum: step.quorum,
    concurrencyKey: providerKey(provider),
    inputDigest: digestInputs(planned),
    idempotencyKey: `${session.id}/${planned.identity}`,
    document: isOpen ? { ...document, sourceGroup: null } : document,
    payload,
  };
}

/** What a job was given, so that a change of it shows. */
const digestInputs = (planned: PlannedJob): string =>
  hash('sha256', canonicalJson(planned.inputs), 'hex');

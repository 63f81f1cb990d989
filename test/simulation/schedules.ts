import * as fc from 'fast-check';
import { expect } from 'vitest';
import { settleContribution } from '../../src/planning/anchor.ts';
import { planStep } from '../../src/planning/plan-step.ts';
import { findReadySteps, type StepState } from '../../src/planning/ready.ts';
import { simulateProcess, toDocument } from '../../src/planning/simulate.ts';
import type { Lane, PlannedJob, SourceDocument } from '../../src/planning/types.ts';
import { shipped } from '../recipes/shipped.ts';

const process = shipped('software-plan');
const lanes: Lane[] = [1, 2, 3].map((ordinal) => ({ id: `lane-${ordinal}`, ordinal }));
const laneIds = lanes.map((lane) => lane.id);

/** Runs a session in the order that `pick` throws, with ids that depend on that order. */
function runSchedule(pick: (count: number) => number): Map<string, string[]> {
  const documents: SourceDocument[] = [];
  const nameOf = new Map<string, string>();
  const made = new Map<string, string[]>();
  const save = (document: SourceDocument): void => {
    documents.push(document);
    nameOf.set(document.id, document.identity);
  };
  for (const { key: stageKey } of process.stages) {
    save({
      ...SEED,
      id: `seed ${documents.length}`,
      identity: `seed ${stageKey}`,
      stage: stageKey,
    });
    const states: Record<string, Record<string, StepState>> = {};
    for (const id of laneIds) states[id] = {};
    const open: PlannedJob[] = [];
    const planReady = (): void => {
      for (const lane of lanes) {
        const asked = { process, stageKey, laneId: lane.id, laneIds, states };
        for (const stepKey of findReadySteps(asked).ready) {
          const place = { process, stageKey, stepKey, lane, lanes, iteration: 1 };
          open.push(...planStep({ ...place, documents }).jobs);
          states[lane.id]![stepKey] = 'planned';
        }
      }
    };
    planReady();
    while (open.length > 0) {
      const [job] = open.splice(pick(open.length), 1) as [PlannedJob];
      made.set(
        job.identity,
        job.inputs.flatMap((input) => input.ids.map((id) => nameOf.get(id)!)),
      );
      const id = `id ${pick(1_000_000)} ${documents.length}`;
      const settled = settleContribution(job, id);
      save({ ...toDocument(job), ...settled, id, contributionId: id });
      const rest = open.some((one) => one.step === job.step && one.laneId === job.laneId);
      if (!rest) states[job.laneId]![job.step] = 'done';
      planReady();
    }
  }
  return made;
}

const SEED = {
  kind: 'seed_prompt' as const,
  documentKey: null,
  iteration: 1,
  laneId: null,
  contributionId: null,
  sourceGroup: null,
  relationships: {},
};

/**
 * Runs a three-lane session of the software plan in shuffled orders: each must give the same jobs
 * with the same inputs as the order in which they were planned.
 */
export function compareSchedules(rounds: number): void {
  const expected = new Map(
    simulateProcess(process, 3).map((job) => [job.identity, job.inputIds.length]),
  );
  const first = runSchedule(() => 0);
  expect(first.size).toBe(237 + 6);
  expect(new Map([...first].map(([identity, ids]) => [identity, ids.length]))).toEqual(expected);
  fc.assert(
    fc.property(fc.infiniteStream(fc.nat()), (dice) => {
      const made = runSchedule((count) => (dice.next().value ?? 0) % count);
      expect(made).toEqual(first);
    }),
    { numRuns: rounds },
  );
}

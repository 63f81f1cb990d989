import { describe, expect, test } from 'vitest';
import { shipped } from '../../test/session/trivial.ts';
import { dealLabels, optionLabel, rivalsByLabel } from './deal-labels.ts';
import { planStep } from './plan-step.ts';
import type { Lane, SourceDocument } from './types.ts';

const process = shipped('decision-memo');
const lanes: Lane[] = [1, 2, 3].map((ordinal) => ({ id: `lane-${ordinal}`, ordinal }));
const decision = ({ id, ordinal }: Lane, run = ''): SourceDocument => ({
  id: `${run}decision-of-${id}`,
  identity: `1/decide/decide/${ordinal}`,
  kind: 'document',
  stage: 'decide',
  documentKey: 'decision',
  iteration: 1,
  laneId: id,
  contributionId: `${run}chunk-of-${id}`,
  sourceGroup: `${run}chunk-of-${id}`,
  relationships: {},
});
const plan = (lane: Lane, labelSeed: string, documents = lanes.map((one) => decision(one))) => {
  const place = { process, stageKey: 'decide', stepKey: 'rank', lane, lanes, iteration: 1 };
  const [job] = planStep({ ...place, labelSeed, documents }).jobs;
  return rivalsByLabel(process, job!.inputs);
};

describe('the labels of a ballot', () => {
  test('are recorded with the job, and follow neither documents nor random ids', () => {
    const dealt = lanes.map((lane) => plan(lane, 'brief'));
    for (const [at, lane] of lanes.entries()) {
      expect(dealt[at]!.toSorted()).toEqual(lanes.map((one) => decision(one).id));
      const documents = lanes.map((one) => decision(one));
      expect(plan(lane, 'brief', documents.toReversed())).toEqual(dealt[at]);
      const again = plan(
        lane,
        'brief',
        lanes.map((one) => decision(one, 'again-')),
      );
      expect(again).toEqual(dealt[at]!.map((id) => `again-${id}`));
    }
  });

  test('are dealt anew for each lane and pass: every lane bears every label', () => {
    const rivals = lanes.map((lane) => decision(lane));
    const counts = new Map<string, number>();
    const deals = 600;
    for (let iteration = 1; iteration <= deals; iteration++) {
      const request = { process, stageKey: 'decide', stepKey: 'rank', lane: lanes[iteration % 3]! };
      const dealt = dealLabels(rivals, { ...request, lanes, iteration, documents: [] });
      const order = dealt.map(({ laneId }) => laneId).join();
      counts.set(order, (counts.get(order) ?? 0) + 1);
    }
    // Six orders; each is expected 100 times, and 60 lies more than four standard deviations off.
    expect(counts.size).toBe(6);
    for (const count of counts.values()) expect(count).toBeGreaterThan(60);
  });

  test('come with the same feedback for every voter, whosever ballot it was on', () => {
    const feedback: SourceDocument = {
      ...decision(lanes[1]!),
      id: 'feedback',
      identity: 'feedback/0/decide/of-lane-2',
      kind: 'feedback',
      documentKey: 'ballot',
      iteration: 0,
      contributionId: null,
      addressee: { stage: 'decide', iteration: 1 },
    };
    const documents = [...lanes.map((one) => decision(one)), feedback];
    for (const lane of lanes) {
      const place = { process, stageKey: 'decide', stepKey: 'rank', lane, lanes, iteration: 1 };
      const [job] = planStep({ ...place, documents }).jobs;
      expect(job!.inputs.at(-1)).toEqual({ name: '+feedback', ids: ['feedback'] });
    }
  });

  test('go on after Z', () => {
    expect([0, 25, 26, 27, 52].map(optionLabel)).toEqual(['A', 'Z', 'AA', 'AB', 'BA']);
  });
});

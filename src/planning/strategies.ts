import { isProduced } from '../recipe/edges.ts';
import { respondingInputs } from '../recipe/joins.ts';
import type { Granularity, StepInput } from '../recipe/types.ts';
import type { JobInputs } from './anchor.ts';
import { lineageOf } from './document-index.ts';
import { type Gathered, type GatheredInput, groupBy, lanesOwing, noteAbsence } from './gather.ts';
import type { SourceDocument } from './types.ts';

/** One job before anchor and lineage are settled. */
export type JobDraft = {
  /** What tells the job from its siblings; null where it has none. */
  readonly distinction: string | null;
  readonly inputs: JobInputs;
  readonly driver: SourceDocument | null;
  readonly respondingLaneId: string | null;
  /** Undefined: decided as for a merge. */
  readonly lineage: string | null | undefined;
};

/** How each granularity makes jobs out of what was gathered. */
export const STRATEGIES: Readonly<Record<Granularity, (gathered: Gathered) => JobDraft[]>> = {
  all_to_one: planMerge,
  per_model: planMerge,
  per_source_document: planPerDocument,
  per_source_document_by_lineage: planByLineage,
  pairwise_by_origin: planPairs,
  per_source_group: planPerGroup,
};

function planMerge(gathered: Gathered): JobDraft[] {
  const inputs = gathered.inputs.map((one) => one.documents);
  const none = { distinction: null, driver: null, respondingLaneId: null, lineage: undefined };
  return [{ ...none, inputs }];
}

function planPerDocument(gathered: Gathered): JobDraft[] {
  const { driver } = gathered;
  return (driver?.documents ?? []).flatMap((document) => {
    const lineage = lineageOf(document);
    const given = new Map([[driver?.input, [document]]]);
    const inputs = joinInputs(gathered, lineage, given);
    if (inputs === null) return [];
    return [
      { distinction: document.identity, inputs, driver: document, respondingLaneId: null, lineage },
    ];
  });
}

function planPerGroup(gathered: Gathered): JobDraft[] {
  const groups = groupBy(gathered.driver?.documents ?? [], lineageOf);
  return planGroups(gathered, groups);
}

/** The lineages of everything that is required; each group must hold all of it. */
function planByLineage(gathered: Gathered): JobDraft[] {
  const groups = new Map<string, SourceDocument[]>();
  for (const { input, byLineage } of gathered.inputs) {
    if (!input.required || !isProduced(input)) continue;
    for (const [lineage, documents] of byLineage ?? []) {
      if (!groups.has(lineage)) groups.set(lineage, [...documents]);
    }
  }
  return planGroups(gathered, groups);
}

function planGroups(
  gathered: Gathered,
  groups: ReadonlyMap<string, readonly SourceDocument[]>,
): JobDraft[] {
  return [...groups].flatMap(([lineage, members]) => {
    const [first] = members;
    const given = new Map([[gathered.driver?.input, members]]);
    const inputs = joinInputs(gathered, lineage, given);
    if (first === undefined || inputs === null) return [];
    const driver = gathered.driver === undefined ? null : first;
    return [{ distinction: first.identity, inputs, driver, respondingLaneId: null, lineage }];
  });
}

type Responses = {
  readonly gathered: GatheredInput;
  readonly byOrigin: ReadonlyMap<string, ReadonlyMap<string, readonly SourceDocument[]>>;
};

function planPairs(gathered: Gathered): JobDraft[] {
  const responding = respondingInputs(gathered.request.process, gathered.step);
  const responses = gathered.inputs
    .filter(({ input }) => responding.includes(input))
    .map((one): Responses => {
      const groups = groupBy(one.documents, lineageOf);
      const byOrigin = new Map(
        [...groups].map(([lineage, members]) => [lineage, groupBy(members, (doc) => doc.laneId)]),
      );
      return { gathered: one, byOrigin };
    });
  const laneIds = lanesResponding(gathered, responses);
  return (gathered.driver?.documents ?? []).flatMap((origin) =>
    laneIds.flatMap((laneId) => planPair(gathered, origin, laneId, responses)),
  );
}

/** The lanes that owe an answer, by ordinal. */
function lanesResponding(gathered: Gathered, responses: readonly Responses[]): string[] {
  const owing = new Set(
    responses
      .filter(({ gathered: { input } }) => input.type !== 'feedback')
      .flatMap(({ gathered: { input } }) => lanesOwing(gathered.request, input)),
  );
  return gathered.request.lanes
    .toSorted((a, b) => a.ordinal - b.ordinal)
    .map((lane) => lane.id)
    .filter((laneId) => owing.has(laneId));
}

function planPair(
  gathered: Gathered,
  origin: SourceDocument,
  laneId: string,
  responses: readonly Responses[],
): JobDraft[] {
  const lineage = lineageOf(origin);
  const given = new Map<StepInput | undefined, readonly SourceDocument[]>();
  given.set(gathered.driver?.input, [origin]);
  for (const { gathered: one, byOrigin } of responses) {
    const answers = byOrigin.get(lineage ?? '')?.get(laneId) ?? [];
    if (answers.length === 0 && one.input.required) {
      noteAbsence(gathered, one.input, laneId, lineage);
      return [];
    }
    given.set(one.input, answers);
  }
  const inputs = joinInputs(gathered, lineage, given);
  if (inputs === null) return [];
  const distinction = `${origin.identity}\n${laneOrdinal(gathered, laneId)}`;
  return [{ distinction, inputs, driver: origin, respondingLaneId: laneId, lineage }];
}

const laneOrdinal = (gathered: Gathered, laneId: string): number =>
  gathered.request.lanes.find((lane) => lane.id === laneId)?.ordinal ?? 0;

/** The inputs of one job of a fan-out; null if the job has to be left out. */
function joinInputs(
  gathered: Gathered,
  lineage: string | null,
  given: ReadonlyMap<StepInput | undefined, readonly SourceDocument[]>,
): JobInputs | null {
  const inputs: (readonly SourceDocument[])[] = [];
  for (const { input, documents, byLineage } of gathered.inputs) {
    const joined =
      given.get(input) ?? (byLineage === null ? documents : byLineage.get(lineage ?? '')) ?? [];
    if (joined.length === 0 && input.required) {
      noteAbsence(gathered, input, null, lineage);
      return null;
    }
    inputs.push(joined);
  }
  return inputs;
}

import type { StepInput } from '../recipe/types.ts';
import type { Lane, SourceDocument } from './types.ts';

/** Documents by what inputs ask for, so that planning a step looks at each of them once. */
export type DocumentIndex = Map<string, SourceDocument[]>;

/** Indexes the documents; one that is given twice counts once. */
export function indexDocuments(documents: readonly SourceDocument[]): DocumentIndex {
  const index: DocumentIndex = new Map();
  const seen = new Set<string>();
  for (const document of documents) {
    if (seen.has(document.id)) continue;
    seen.add(document.id);
    addToIndex(index, document);
  }
  return index;
}

/** Adds one document that is not in the index yet. */
export function addToIndex(index: DocumentIndex, document: SourceDocument): void {
  for (const key of keysOf(document)) {
    const list = index.get(key);
    if (list === undefined) index.set(key, [document]);
    else list.push(document);
  }
}

const ADDRESSED = 'addressed feedback';
const TIMELESS: readonly SourceDocument['kind'][] = ['source_digest', 'project_resource'];

function keysOf(document: SourceDocument): string[] {
  const { kind, stage, documentKey, iteration, addressee } = document;
  if (addressee) {
    const own = toKey(kind, stage, documentKey, iteration);
    return [own, toKey(ADDRESSED, addressee.stage, null, addressee.iteration)];
  }
  if (!TIMELESS.includes(kind)) return [toKey(kind, stage, documentKey, iteration)];
  const all = toKey(kind, null, null, 0);
  return documentKey === null ? [all] : [all, toKey(kind, null, documentKey, 0)];
}

const toKey = (kind: string, stage: string | null, key: string | null, pass: number): string =>
  `${kind}\n${pass}\n${stage ?? ''}\n${key ?? ''}`;

/** The feedback that a stage has to take up in a pass. */
export const feedbackFor = (
  index: DocumentIndex,
  stage: string,
  iteration: number,
): readonly SourceDocument[] => index.get(toKey(ADDRESSED, stage, null, iteration)) ?? [];

/** What an input selects for a lane, in an order that does not depend on arrival or random ids. */
export function selectForInput(
  index: DocumentIndex,
  input: StepInput,
  lane: Lane,
  ordinals: ReadonlyMap<string, number>,
  iteration: number,
): SourceDocument[] {
  const kind = input.type === 'contribution' ? 'document' : input.type;
  const timeless = TIMELESS.includes(kind);
  const pass = input.iteration === 'previous' ? iteration - 1 : iteration;
  const key = input.type === 'seed_prompt' ? null : input.documentKey;
  const found = index.get(toKey(kind, timeless ? null : input.stage, key, timeless ? 0 : pass));
  const visible = (found ?? []).filter(
    (document) => input.scope === 'all' || document.laneId === null || document.laneId === lane.id,
  );
  return sortDocuments(visible, ordinals);
}

function sortDocuments(
  documents: readonly SourceDocument[],
  ordinals: ReadonlyMap<string, number>,
): SourceDocument[] {
  if (documents.length < 2) return [...documents];
  return documents
    .map((document) => ({ document, ordinal: ordinalOf(document, ordinals) }))
    .toSorted(
      (a, b) =>
        a.ordinal - b.ordinal ||
        compareText(a.document.identity, b.document.identity) ||
        compareText(a.document.id, b.document.id),
    )
    .map(({ document }) => document);
}

const ordinalOf = (document: SourceDocument, ordinals: ReadonlyMap<string, number>): number =>
  document.laneId === null ? 0 : (ordinals.get(document.laneId) ?? Number.MAX_SAFE_INTEGER);

/** By code unit: the same on every machine, in contrast to a locale. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** The branch of a document; one that has no group yet is the root of its own. */
export const lineageOf = (document: SourceDocument): string | null =>
  document.sourceGroup ?? document.contributionId;

import { contractOf, describeDocument, isFilled, type Section, stepsGuidedBy } from './contract.ts';
import { atLevel, forDepth, holdsValue, LEAST } from './field-sizes.ts';
import type { ContractNode, Depth, Stage, Step } from './types.ts';

/** A section and the words that it takes. */
type Part = { readonly key: string; readonly words: number };

/** The words that a document has, and those that its contract's fields take at the least. */
export type Room = {
  readonly allowed: number;
  readonly needed: number;
  /** The largest first. */
  readonly parts: readonly Part[];
};

/** The words that a step's document needs at a depth; null where its contract asks for no number. */
export function findRoom(stage: Stage, step: Step, depth: Depth): Room | null {
  const contract = contractOf(stage, step);
  const allowed = forDepth(contract?.['x-words'], depth) ?? 0;
  if (contract === undefined || allowed === 0) return null;
  const guided = step.jobType === 'PLAN' ? stepsGuidedBy(stage, step) : [];
  const sections = guided.flatMap((one) => describeDocument(stage, one).sections);
  // An answer that states only changes leaves out what is optional and stays as it was.
  const optional = step.extends === null ? LEAST.optional : [0];
  const parts = listParts(contract, { depth, optional }, sections);
  const needed = Math.round(parts.reduce((sum, { words }) => sum + words, 0));
  return { allowed, needed, parts: parts.toSorted((a, b) => b.words - a.words) };
}

type Measure = {
  readonly depth: Depth;
  /** The shares of optional sections and fields that are written. */
  readonly optional: readonly number[];
};

function listParts(contract: ContractNode, measure: Measure, guided: readonly Section[]): Part[] {
  return listFields(contract).map(([key, node]) => {
    const isGuidance = node.items?.properties?.['document_key'] !== undefined && guided.length > 0;
    const words = isGuidance
      ? guided.length * LEAST.guided[measure.depth] * LEAST.sentence
      : measurePlace(key, node, measure, 0);
    return { key, words: Math.round(words * shareOf(contract, key, measure, 0)) };
  });
}

/** The words of one place: a section at level 0, else a field of a record. */
function measurePlace(key: string, node: ContractNode, measure: Measure, level: number): number {
  const { depth } = measure;
  const stated = forDepth(node['x-words'], depth);
  if (stated !== undefined) return stated;
  if (node.properties !== undefined) return measureFields(node, measure, level + 1);
  if (node.items?.properties !== undefined) {
    const count = forDepth(node['x-items'], depth) ?? LEAST.records[depth];
    return Math.max(count, node.minItems ?? 0) * measureFields(node.items, measure, level + 1);
  }
  const isValue = holdsValue(key, node, level);
  if ([node.type ?? 'string'].flat().every((type) => type === 'array')) {
    const typical = atLevel(LEAST.points[depth], level);
    const count = forDepth(node['x-items'], depth) ?? Math.max(typical, node.minItems ?? 0);
    return count * (isValue ? 1 : LEAST.sentence);
  }
  if (isValue) return LEAST.value;
  return atLevel(LEAST.sentences[depth], level) * (level === 0 ? LEAST.sentence : LEAST.cell);
}

const measureFields = (node: ContractNode, measure: Measure, level: number): number =>
  listFields(node).reduce((sum, [key, child]) => {
    return sum + measurePlace(key, child, measure, level) * shareOf(node, key, measure, level);
  }, 0);

const shareOf = (
  parent: ContractNode,
  key: string,
  { optional }: Measure,
  level: number,
): number => (parent.required?.includes(key) ? 1 : atLevel(optional, level));

/** What a model writes and a reader gets: neither what code fills in nor what only code reads. */
const listFields = (node: ContractNode): [string, ContractNode][] =>
  Object.entries(node.properties ?? {}).filter(
    ([, child]) => !isFilled(child) && child['x-shown'] !== false,
  );

import { contractOf, describeDocument, type Section, stepsGuidedBy } from '../recipe/contract.ts';
import { atLevel, forDepth, TYPICAL } from '../recipe/field-sizes.ts';
import type { ContractNode, Stage, Step } from '../recipe/types.ts';

/**
 * Entries of lists in one expected document. Lists within lists multiply, so that a contract of a
 * received recipe could occupy the process; beyond these each list counts as one entry.
 */
const MOST_ENTRIES = 20_000;

/** A word of a planning document with its space, its quotes and its share of the keys. */
const CHARACTERS_PER_WORD = 8;

/** Prose with about as many tokens to the character as planning documents have. */
const PROSE =
  'The service keeps each booking with its responsible owner (role, reason), reports changed ' +
  'availability within 60 seconds and logs every approval; the product team reviews open risks, ' +
  'operating costs and dependencies weekly before it plans the next release. ';

/** The text of an answer as models write it: indented. */
export const asAnswer = (content: unknown): string => JSON.stringify(content, null, 2);

/**
 * A document of the expected size in the shape of the contract, so that the product's own
 * templates tell how long it becomes in a prompt. Its words mean nothing.
 *
 * Models have a length in mind: with four times the sections they write about twice as much, not
 * four times (measured exponent 0.52). So the size is the geometric mean of what the sections
 * would come to one by one and of a typical document.
 */
export function expectContent(stage: Stage, step: Step): Record<string, unknown> {
  const contract = contractOf(stage, step);
  if (contract === undefined) return {};
  const guided = step.jobType === 'PLAN' ? stepsGuidedBy(stage, step) : [];
  const documents = guided.map((one) => describeDocument(stage, one));
  const single = fillContract(contract, documents, 1);
  const { words } = describeDocument(stage, step);
  const length = asAnswer(single).length;
  // A prompt that asks for a number of words is followed; else the rule above.
  const scale =
    words > 0
      ? (words * CHARACTERS_PER_WORD) / length
      : Math.sqrt(TYPICAL.whole[step.jobType] / length);
  return fillContract(contract, documents, scale);
}

type Guided = readonly { readonly key: string; readonly sections: readonly Section[] }[];

function fillContract(contract: ContractNode, guided: Guided, scale: number) {
  const write = (length: number): string => {
    const scaled = Math.max(4, Math.round(length * scale));
    return PROSE.repeat(Math.ceil(scaled / PROSE.length)).slice(0, scaled);
  };

  let left = MOST_ENTRIES;
  const entries = (wanted: number): number => {
    const count = Math.max(1, Math.min(wanted, left));
    left = Math.max(0, left - count);
    return count;
  };

  function fields(node: ContractNode, level: number): Record<string, unknown> {
    const own = Object.entries(node.properties ?? {}).filter(([, child]) => !child['x-fill']);
    return Object.fromEntries(own.map(([key, child]) => [key, value(key, child, level)]));
  }

  function value(key: string, node: ContractNode, level: number): unknown {
    if (node.enum) return node.enum[0];
    if (node.properties) return fields(node, level + 1);
    if (node.items?.properties) return records(node, level);
    const types = [node.type ?? 'string'].flat();
    const cites = node['x-cites'] ?? node.items?.['x-cites'] ?? false;
    if (types.includes('array')) {
      const count = entries(Math.max(node.minItems ?? 0, atLevel(TYPICAL.points, level)));
      return Array.from({ length: count }, () => write(pick(atLevel(TYPICAL.point, level), cites)));
    }
    if (types.includes('number') || types.includes('integer')) return node.minimum ?? 50;
    if (types.includes('boolean')) return true;
    if (types.includes('object')) return { [key]: write(pick(TYPICAL.open, cites)) };
    return write(pick(atLevel(TYPICAL.text, level), cites));
  }

  /** The plan of a stage has one record for each document that it guides. */
  function records({ items = {}, ...list }: ContractNode, level: number): unknown[] {
    const count = forDepth(list['x-items'], 'standard') ?? TYPICAL.records;
    if (guided.length === 0 || !items.properties?.['document_key']) {
      return Array.from({ length: entries(count) }, () => fields(items, level + 1));
    }
    return guided.map((document) => ({
      ...fields(items, level + 1),
      document_key: document.key,
      content_to_include: guide(document.sections),
    }));
  }

  function guide(sections: readonly Section[]): Record<string, unknown> {
    const told = sections.map(({ key, fields: parts }) => [
      key,
      parts.length > 0 ? guide(parts) : write(TYPICAL.guidance),
    ]);
    return Object.fromEntries(told) as Record<string, unknown>;
  }

  return fields(contract, 0);
}

const pick = (
  length: { readonly cited: number; readonly plain: number },
  cites: boolean,
): number => (cites ? length.cited : length.plain);

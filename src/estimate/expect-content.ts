import { contractOf, describeDocument, type Section, stepsGuidedBy } from '../recipe/contract.ts';
import type { ContractNode, Stage, Step } from '../recipe/types.ts';

/** Characters of a text that states evidence, and of one that does not. */
type Length = { readonly cited: number; readonly plain: number };

/**
 * What a frontier model typically writes for each kind of place in a contract, in characters:
 * means over some sixty documents of one, rounded. The first entry of a list is for sections, the
 * second for the fields of their records, the third for whatever lies deeper. What a contract
 * cannot tell is how talkative a model is; finished runs do.
 */
const TYPICAL = {
  text: [
    { cited: 800, plain: 520 },
    { cited: 300, plain: 70 },
    { cited: 130, plain: 35 },
  ],
  /** One point of a list, and how many points a list has. */
  point: [
    { cited: 170, plain: 75 },
    { cited: 90, plain: 70 },
    { cited: 40, plain: 35 },
  ],
  points: [3, 2, 2],
  records: 3,
  /** An object whose fields the contract leaves open. */
  open: { cited: 860, plain: 75 },
  /** What the plan of a stage says about one field of a document that it guides. */
  guidance: 140,
  /** Documents as wholes, and the plans that guide a stage's documents. */
  whole: { EXECUTE: 12_500, PLAN: 22_500 },
} as const;

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
    if (node.items?.properties) return records(node.items, level);
    const types = [node.type ?? 'string'].flat();
    const cites = node['x-cites'] ?? node.items?.['x-cites'] ?? false;
    if (types.includes('array')) {
      const count = entries(Math.max(node.minItems ?? 0, at(TYPICAL.points, level)));
      return Array.from({ length: count }, () => write(pick(at(TYPICAL.point, level), cites)));
    }
    if (types.includes('number') || types.includes('integer')) return node.minimum ?? 50;
    if (types.includes('boolean')) return true;
    if (types.includes('object')) return { [key]: write(pick(TYPICAL.open, cites)) };
    return write(pick(at(TYPICAL.text, level), cites));
  }

  /** The plan of a stage has one record for each document that it guides. */
  function records(items: ContractNode, level: number): unknown[] {
    if (guided.length === 0 || !items.properties?.['document_key']) {
      return Array.from({ length: entries(TYPICAL.records) }, () => fields(items, level + 1));
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

const at = <T>(list: readonly T[], level: number): T => list[Math.min(level, list.length - 1)]!;
const pick = (length: Length, cites: boolean): number => (cites ? length.cited : length.plain);

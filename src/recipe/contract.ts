import { DialecticError } from '../errors/errors.ts';
import { humanise } from '../text/markdown-blocks.ts';
import { freezeDeep, onceForPair } from '../text/memo.ts';
import { isShown } from './edges.ts';
import { forDepth } from './field-sizes.ts';
import type { Contract, ContractNode, Stage, Step } from './types.ts';

/** A section or field as prompts and templates see it. */
export type Section = {
  readonly key: string;
  readonly title: string;
  readonly description: string;
  /** `string`, `array of string`, `array of object`, `object`… */
  readonly type: string;
  readonly required: boolean;
  readonly cites: boolean;
  /** How many records or points it has at the most; 0 where the contract does not say. */
  readonly items: number;
  /** How many words it should have; 0 where the contract does not say. */
  readonly words: number;
  readonly fields: readonly Section[];
};

/** A document that a step makes, as prompts and templates see it. */
export type DocumentView = {
  readonly key: string;
  readonly title: string;
  readonly description: string;
  readonly cites: boolean;
  /** How many words it should have; 0 where the contract does not say. */
  readonly words: number;
  readonly sections: readonly Section[];
};

/** The keywords of a contract that JSON Schema does not know; they constrain nothing. */
export const ANNOTATIONS: readonly string[] = [
  'x-asks',
  'x-cites',
  'x-coverage',
  'x-fill',
  'x-items',
  'x-records',
  'x-shown',
  'x-words',
] satisfies (keyof ContractNode)[];

/** The contract of what a step makes; validation has made sure that it is there. */
export function contractOf(stage: Stage, step: Step): Contract | undefined {
  return stage.contracts[step.output.contract];
}

/** The same for a step that runs: a recipe that lacks one is refused before. */
export function requireContract(stage: Stage, step: Step): Contract {
  const contract = contractOf(stage, step);
  if (contract) return contract;
  const { contract: path } = step.output;
  throw new DialecticError('internal_error', `Stage ${stage.key} has no contract ${path}.`);
}

/**
 * What a step makes, without the fields that code fills in: the same object each time, by which what a
 * prompt says of it is known.
 */
export const describeDocument = onceForPair((stage: Stage, step: Step): DocumentView => {
  const contract = contractOf(stage, step);
  const sections = contract === undefined ? [] : listSections(contract);
  return freezeDeep({
    key: step.output.documentKey,
    title: contract?.title ?? humanise(step.output.documentKey),
    description: contract?.description ?? '',
    cites: sections.some(holdsCitations),
    words: forDepth(contract?.['x-words'], 'standard') ?? 0,
    sections,
  });
});

const holdsCitations = (section: Section): boolean =>
  section.cites || section.fields.some(holdsCitations);

/** The sections of a contract in the order of the file, without those that code fills in. */
function listSections(node: ContractNode): Section[] {
  return Object.entries(node.properties ?? {})
    .filter(([, child]) => !isFilled(child))
    .map(([key, child]) => ({
      key,
      title: child.title ?? humanise(key),
      description: child.description ?? '',
      type: nameType(child),
      required: node.required?.includes(key) ?? false,
      cites: child['x-cites'] ?? child.items?.['x-cites'] ?? false,
      items: forDepth(child['x-items'], 'standard') ?? 0,
      words: forDepth(child['x-words'], 'standard') ?? 0,
      fields: listSections(child.items ?? child),
    }));
}

/** Whether code writes all of this, so that a model need not hear of it. */
export function isFilled(node: ContractNode): boolean {
  if (node['x-fill'] !== undefined) return true;
  const fields = Object.values(node.properties ?? {});
  if (fields.length > 0) return fields.every(isFilled);
  return node.items !== undefined && isFilled(node.items);
}

function nameType(node: ContractNode): string {
  const type = typeof node.type === 'object' ? node.type.join(' or ') : (node.type ?? 'any');
  return type === 'array' && node.items !== undefined ? `array of ${nameType(node.items)}` : type;
}

/** The contract as plain JSON Schema for a provider: no annotations, no fields that code fills. */
export function schemaForModel(node: ContractNode): ContractNode {
  const { properties, required, items, ...rest } = node;
  const plain = Object.fromEntries(
    Object.entries(rest).filter(([keyword]) => !ANNOTATIONS.includes(keyword)),
  );
  const kept = Object.entries(properties ?? {}).filter(([, child]) => !isFilled(child));
  const names = new Set(kept.map(([key]) => key));
  return {
    ...plain,
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(kept.map(([key, one]) => [key, schemaForModel(one)])) }),
    ...(required === undefined ? {} : { required: required.filter((name) => names.has(name)) }),
    ...(items === undefined ? {} : { items: schemaForModel(items) }),
  };
}

/** The documents of the steps that a header context guides; the same list each time. */
export const documentsGuidedBy = onceForPair(
  (stage: Stage, header: Step): readonly DocumentView[] =>
    Object.freeze(stepsGuidedBy(stage, header).map((step) => describeDocument(stage, step))),
);

/** The steps of the stage whose prompts show the header context which this step makes. */
export function stepsGuidedBy(stage: Stage, header: Step): Step[] {
  return stage.steps.filter(
    (step) =>
      !step.skip &&
      step.compute === null &&
      step.inputs.some(
        (input) =>
          input.type === 'header_context' &&
          isShown(input) &&
          input.stage === stage.key &&
          input.documentKey === header.output.documentKey,
      ),
  );
}

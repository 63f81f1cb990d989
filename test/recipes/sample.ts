import type { PromptFacts, PromptInput, PromptJob } from '../../src/recipe/render-prompt.ts';
import { RESOURCE_KINDS } from '../../src/recipe/render-prompt.ts';
import type { ContractNode, Process, Step, StepInput } from '../../src/recipe/types.ts';

/** Facts in which every text that a prompt may use is there and can be recognised. */
export function sampleFacts(process: Process, iteration: number): PromptFacts {
  return {
    userRequest: 'REQUEST: open a bakery on the web.',
    iteration,
    project: { name: 'Bakery', domain: 'retail' },
    resources: Object.fromEntries(RESOURCE_KINDS.map((kind) => [kind, `RESOURCE ${kind}`])),
    overlay: {
      role: process.overlay.role ?? '',
      standards: process.overlay.standards ?? [],
      style: process.overlay.style ?? '',
    },
  };
}

/** The label under which a sample prompt meets the n-th document of an input. */
export const sampleLabel = (input: StepInput, index: number): string =>
  `LABEL ${input.name} ${index + 1}`;

/** A job with two documents for each input that may be several, one for the others. */
export function sampleJob(step: Step, wanted: (input: StepInput) => boolean): PromptJob {
  const inputs = step.inputs.filter(wanted).map((input): [string, readonly PromptInput[]] => {
    const documents = Array.from({ length: input.multiple ? 2 : 1 }, (_, index) => ({
      label: sampleLabel(input, index),
      stage: input.stage ?? '',
      document_key: input.documentKey ?? '',
      title: input.documentKey ?? input.type,
    }));
    return [input.name, documents];
  });
  return {
    inputs: Object.fromEntries(inputs),
    header: { guidance: 'GUIDANCE for this document', materials: 'MATERIALS of the stage' },
  };
}

/** A document made from its contract alone; every leaf is a word of its own. */
export function sampleDocument(
  contract: ContractNode,
  keeps: (node: ContractNode, key: string, parent: ContractNode) => boolean = () => true,
): { readonly content: Record<string, unknown>; readonly leaves: readonly string[] } {
  const leaves: string[] = [];
  const leaf = (text: string): string => {
    leaves.push(text);
    return text;
  };
  const make = (node: ContractNode, path: string): unknown => {
    const type = typeof node.type === 'string' ? node.type : node.type?.[0];
    if (node.enum !== undefined) return leaf(String(node.enum[0]));
    if (node.properties !== undefined) return makeRecord(node, path);
    if (type === 'array') return [1, 2].map((n) => make(node.items ?? {}, `${path}.${n}`));
    if (type === 'object') return { concern: leaf(`${path}.concern`) };
    if (type === 'number' || type === 'integer') return Number(leaf(`${1_000 + leaves.length}`));
    if (type === 'boolean') return leaf('true') === 'true';
    return leaf(path);
  };
  const makeRecord = (node: ContractNode, path: string): Record<string, unknown> => {
    const fields = Object.entries(node.properties ?? {}).filter(([key, child]) =>
      keeps(child, key, node),
    );
    return Object.fromEntries(fields.map(([key, child]) => [key, make(child, `${path}.${key}`)]));
  };
  return { content: makeRecord(contract, 'at'), leaves };
}

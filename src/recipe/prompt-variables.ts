import { ANY, ITEM, type PathPart } from '../text/liquid-paths.ts';
import { isShown } from './edges.ts';
import { RESOURCE_KINDS, readsHeader } from './render-prompt.ts';
import type { ContractNode, Step } from './types.ts';

/** What a template may reach: text or number, a list of something, or named fields. */
export type Shape =
  | { readonly kind: 'value' }
  | { readonly kind: 'open' }
  | { readonly kind: 'list'; readonly item: Shape }
  | { readonly kind: 'fields'; readonly fields: Readonly<Record<string, Shape>> };

const VALUE: Shape = { kind: 'value' };
const OPEN: Shape = { kind: 'open' };
const listOf = (item: Shape): Shape => ({ kind: 'list', item });
const fieldsOf = (fields: Readonly<Record<string, Shape>>): Shape => ({ kind: 'fields', fields });
const values = (...names: readonly string[]): Shape =>
  fieldsOf(Object.fromEntries(names.map((name) => [name, VALUE])));

const SECTION_VALUES = [
  'key',
  'title',
  'description',
  'type',
  'required',
  'cites',
  'items',
  'words',
];
const SECTION = fieldsOf({
  ...Object.fromEntries(SECTION_VALUES.map((name) => [name, VALUE])),
  fields: listOf(OPEN),
});
const DOCUMENT = fieldsOf({
  key: VALUE,
  title: VALUE,
  description: VALUE,
  cites: VALUE,
  words: VALUE,
  sections: listOf(SECTION),
});

/** What a seed prompt may use. */
export function seedPromptShape(): Shape {
  return fieldsOf(factFields());
}

/** What the prompt of a step may use. */
export function promptShape(step: Step): Shape {
  const input = listOf(values('label', 'stage', 'document_key', 'title'));
  const shown = step.inputs.filter(isShown);
  const inputs = Object.fromEntries(shown.map((one) => [one.name, input]));
  return fieldsOf({
    ...factFields(),
    step: values('key', 'name'),
    document: DOCUMENT,
    inputs: fieldsOf(inputs),
    sources: values('count'),
    ...(readsHeader(step) ? { header: values('guidance', 'materials') } : {}),
    ...(step.jobType === 'PLAN' ? { guided_documents: listOf(DOCUMENT) } : {}),
  });
}

/** What a rendering template may use. */
export function templateShape(contract: ContractNode): Shape {
  return fieldsOf({ document: DOCUMENT, content: contractShape(contract) });
}

function factFields(): Record<string, Shape> {
  return {
    user_request: VALUE,
    iteration: VALUE,
    project: values('name', 'domain'),
    resources: values(...RESOURCE_KINDS),
    overlay: fieldsOf({ role: VALUE, style: VALUE, standards: listOf(VALUE) }),
    process: values('key', 'name', 'depth'),
    stage: values('key', 'name', 'description'),
  };
}

function contractShape(node: ContractNode): Shape {
  if (node.properties !== undefined) {
    const entries = Object.entries(node.properties);
    return fieldsOf(Object.fromEntries(entries.map(([key, one]) => [key, contractShape(one)])));
  }
  if (node.items !== undefined) return listOf(contractShape(node.items));
  const types = typeof node.type === 'string' ? [node.type] : (node.type ?? []);
  const structured = types.includes('object') || types.includes('array') || types.length === 0;
  return structured ? OPEN : VALUE;
}

/** The first part of the path that the shape does not have; null if all of it is there. */
export function findUnknownPart(shape: Shape, path: readonly PathPart[]): string | null {
  let current = shape;
  for (const [index, part] of path.entries()) {
    if (current.kind === 'open' || part === ANY) return null;
    if (part === 'size') return null;
    const next = stepInto(current, part);
    if (next === null) return printPath(path.slice(0, index + 1));
    current = next;
  }
  return null;
}

function stepInto(shape: Shape, part: PathPart): Shape | null {
  if (shape.kind === 'list') return part === ITEM ? shape.item : null;
  if (shape.kind !== 'fields' || typeof part !== 'string') return null;
  return Object.hasOwn(shape.fields, part) ? (shape.fields[part] ?? null) : null;
}

/** `content.features[].name` for messages. */
export function printPath(path: readonly PathPart[]): string {
  return path
    .map((part, index) => {
      if (typeof part !== 'string') return '[]';
      return index === 0 ? part : `.${part}`;
    })
    .join('');
}

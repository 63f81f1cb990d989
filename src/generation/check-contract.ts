import { isRecord } from './json-reader.ts';

/** A contract: JSON Schema as plain data, with annotations that are passed over. */
export type ContractSchema = { readonly [keyword: string]: unknown };

/** One thing that is wrong, in words that can be sent to the model that wrote it. */
export type ContractProblem = { readonly path: string; readonly message: string };

export type ContractCheck =
  | { readonly kind: 'valid' }
  | {
      /** `incomplete`: sections are missing and the rest is right, so that going on may help. */
      readonly kind: 'empty' | 'echo' | 'incomplete' | 'invalid';
      readonly problems: readonly ContractProblem[];
      /** The required sections that are not there at all. */
      readonly missing: readonly string[];
    };

const MOST_PROBLEMS = 20;
/** Shorter texts are found in any prompt by chance. */
const LEAST_ECHO = 120;

type Report = (path: string, message: string) => void;

/**
 * Checks a document against its contract. It asks for substance, not for form: prose may be a
 * text or a list, a list may be a single item, unknown sections are kept; but what is required
 * must be there, and a text must say something. `given` is what the model was shown: a document
 * that only repeats it is refused.
 */
export function checkContract(
  schema: ContractSchema,
  content: unknown,
  given: readonly unknown[] = [],
): ContractCheck {
  if (!isRecord(content) || isEmpty(content)) return refuse('empty', 'The document is empty.');
  const problems: ContractProblem[] = [];
  checkValue(schema, content, '', (path, message) => problems.push({ path, message }));
  if (isEcho(content, given, problems.length === 0)) {
    return refuse('echo', 'The answer repeats what was given instead of the document.');
  }
  const first = problems.slice(0, MOST_PROBLEMS);
  if (first.length === 0) return { kind: 'valid' };
  const missing = requiredOf(schema).filter((name) => !Object.hasOwn(content, name));
  const onlyMissing = missing.length > 0 && problems.length === missing.length;
  return { kind: onlyMissing ? 'incomplete' : 'invalid', problems: first, missing };
}

/** The problems as a list for the prompt that asks again. */
export function describeProblems(problems: readonly ContractProblem[]): string {
  return problems
    .map(({ path, message }) => (path === '' ? `- ${message}` : `- \`${path}\` ${message}`))
    .join('\n');
}

const refuse = (kind: 'empty' | 'echo', message: string): ContractCheck => ({
  kind,
  problems: [{ path: '', message }],
  missing: [],
});

function checkValue(schema: ContractSchema, value: unknown, path: string, report: Report): void {
  const types = typesOf(schema);
  const fitting = types.find((type) => fits(type, value));
  if (types.length > 0 && fitting === undefined) {
    return report(path, `must be ${types.map(nameOf).join(' or ')}, not ${nameOfValue(value)}.`);
  }
  if (Array.isArray(schema['enum']) && !schema['enum'].some((one) => sameWord(one, value))) {
    report(path, `must be one of: ${schema['enum'].join(', ')}.`);
  }
  const type = fitting ?? (isRecord(schema['properties']) ? 'object' : undefined);
  if (type === 'object' && isRecord(value)) checkRecord(schema, value, path, report);
  if (type === 'array') checkList(schema, Array.isArray(value) ? value : [value], path, report);
  if (type === 'number' || type === 'integer') checkRange(schema, Number(value), path, report);
  if (type === 'string') checkLength(schema, value, path, report);
}

function checkRecord(
  schema: ContractSchema,
  value: Readonly<Record<string, unknown>>,
  path: string,
  report: Report,
): void {
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  const required = requiredOf(schema);
  const names = new Set([...required, ...Object.keys(properties)]);
  for (const name of names) {
    const own: unknown = properties[name];
    const child = isRecord(own) ? own : {};
    const at = path === '' ? name : `${path}.${name}`;
    const field = Object.hasOwn(value, name) ? value[name] : undefined;
    if (required.includes(name)) checkRequired(child, field, at, report);
    else if (!isBlank(field) && child['x-fill'] === undefined) checkValue(child, field, at, report);
  }
}

function checkRequired(child: ContractSchema, field: unknown, at: string, report: Report): void {
  if (field === undefined) return report(at, 'is missing.');
  if (isBlank(field) && !holdsEmptyList(field)) {
    return report(at, 'is empty; it must say something.');
  }
  checkValue(child, field, at, report);
}

function checkList(
  schema: ContractSchema,
  items: readonly unknown[],
  path: string,
  report: Report,
): void {
  const least = Number(schema['minItems'] ?? 0);
  if (items.length < least) report(path, `must have at least ${least} entries.`);
  const { items: item } = schema;
  if (!isRecord(item)) return;
  for (const [index, value] of items.entries()) {
    if (!isBlank(value)) checkValue(item, value, `${path}[${index}]`, report);
  }
}

function checkRange(schema: ContractSchema, value: number, path: string, report: Report): void {
  const { minimum, maximum } = schema;
  if (typeof minimum === 'number' && value < minimum) report(path, `must be at least ${minimum}.`);
  if (typeof maximum === 'number' && value > maximum) report(path, `must be at most ${maximum}.`);
}

function checkLength(schema: ContractSchema, value: unknown, path: string, report: Report): void {
  const least = Number(schema['minLength'] ?? 0);
  const length = typeof value === 'string' ? value.trim().length : JSON.stringify(value).length;
  if (least > 1 && length < least) report(path, `must have at least ${least} characters.`);
}

const typesOf = ({ type }: ContractSchema): string[] =>
  typeof type === 'string' ? [type] : Array.isArray(type) ? type.map(String) : [];

/** Fields that code fills in later are never asked of the model. */
function requiredOf(schema: ContractSchema): string[] {
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  const names = Array.isArray(schema['required']) ? schema['required'].map(String) : [];
  return names.filter((name) => {
    const own = properties[name];
    return !isRecord(own) || own['x-fill'] === undefined;
  });
}

/** Prose may come as a list and a list as its only entry; numbers may come as text. */
function fits(type: string, value: unknown): boolean {
  switch (type) {
    case 'string':
      return isScalar(value) || Array.isArray(value);
    case 'array':
      return Array.isArray(value) || typeof value === 'string' || isRecord(value);
    case 'object':
      return isRecord(value);
    case 'integer':
      return isNumeric(value) && Number.isInteger(Number(value));
    case 'number':
      return isNumeric(value);
    case 'boolean':
      return typeof value === 'boolean';
    default:
      return type === 'null' && value === null;
  }
}

const isScalar = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
const isNumeric = (value: unknown): boolean =>
  typeof value === 'number' || (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value.trim()));
const sameWord = (one: unknown, value: unknown): boolean =>
  one === value || (isScalar(value) && String(one).toLowerCase() === String(value).toLowerCase());

const NAMES: Readonly<Record<string, string>> = {
  string: 'a text',
  array: 'a list',
  object: 'a record',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  null: 'null',
};
const nameOf = (type: string): string => NAMES[type] ?? type;
const nameOfValue = (value: unknown): string =>
  value === null
    ? 'null'
    : nameOf(Array.isArray(value) ? 'array' : isRecord(value) ? 'object' : typeof value);

/** Nothing said: no text, or only marks that stand for text. */
function isBlank(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (typeof value === 'string') return /^[\s.…_-]*$/.test(value);
  if (Array.isArray(value)) return value.every(isBlank);
  return isRecord(value) && Object.values(value).every(isBlank);
}

/** No section at all, or none with a word in it. */
const isEmpty = (content: Readonly<Record<string, unknown>>): boolean =>
  isBlank(content) && !holdsEmptyList(content);

/** A list that is empty is an answer, also as a field of a record that says nothing else. */
const holdsEmptyList = (value: unknown): boolean =>
  [value, ...(isRecord(value) ? Object.values(value) : [])].some(
    (one) => Array.isArray(one) && one.length === 0,
  );

function lettersOf(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.replace(/\\[nrt"]|[^\p{L}\p{N}]/gu, '');
}

/**
 * Whether a document only repeats what was given. A plan may hold a document word for word, so
 * that one which keeps its contract is an echo only of something whole.
 */
function isEcho(content: unknown, given: readonly unknown[], valid: boolean): boolean {
  const said = lettersOf(content);
  if (said.length < LEAST_ECHO) return false;
  return given.map(lettersOf).some((text) => text === said || (!valid && text.includes(said)));
}

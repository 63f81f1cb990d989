import type { ErrorObject } from 'ajv/dist/2020.js';
import { formatPath, parsePointer } from '../text/json-path.ts';
import { compileContract } from './compile-contract.ts';
import { isEmpty } from './is-blank.ts';
import { isRecord } from './json-reader.ts';
import { type ContractSchema, requiredOf } from './loosen-contract.ts';

/** One thing that is wrong, in words that can be sent to the model that wrote it. */
type ContractProblem = { readonly path: string; readonly message: string };

type ContractCheck =
  | { readonly kind: 'valid' }
  | {
      /** `incomplete`: sections are missing and the rest is right, so that going on may help. */
      readonly kind: 'empty' | 'echo' | 'incomplete' | 'invalid';
      readonly problems: readonly ContractProblem[];
      /** The required sections that are not there at all. */
      readonly missing: readonly string[];
      /** The sections that are wrong or missing, where the rest can stay; else empty. */
      readonly wrong: readonly string[];
    };

const MOST_PROBLEMS = 20;
/** Shorter texts are found in any prompt by chance. */
const LEAST_ECHO = 120;

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
  const problems = findProblems(schema, content);
  if (isEcho(content, given, problems.length === 0)) {
    return refuse('echo', 'The answer repeats what was given instead of the document.');
  }
  const first = problems.slice(0, MOST_PROBLEMS);
  if (first.length === 0) return { kind: 'valid' };
  const missing = requiredOf(schema).filter((name) => !Object.hasOwn(content, name));
  const onlyMissing = missing.length > 0 && problems.length === missing.length;
  const kind = onlyMissing ? 'incomplete' : 'invalid';
  return { kind, problems: first, missing, wrong: findWrong(schema, content, problems) };
}

/**
 * Where most sections are wrong, the document is better written anew as a whole; and one with sections
 * that nobody asked for is another document, of which nothing is kept.
 */
function findWrong(
  schema: ContractSchema,
  content: object,
  problems: readonly ContractProblem[],
): string[] {
  const wrong = new Set(problems.map(({ path }) => path.split(/[.[]/)[0] ?? ''));
  const { properties } = schema;
  const known = isRecord(properties) ? properties : {};
  const isOther = Object.keys(content).some((key) => !Object.hasOwn(known, key));
  const isFew = wrong.size * 2 <= requiredOf(schema).length;
  return isFew && !isOther && !wrong.has('') ? [...wrong] : [];
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
  wrong: [],
});

function findProblems(schema: ContractSchema, content: unknown): ContractProblem[] {
  const validate = compileContract(schema);
  if (validate(content)) return [];
  const errors = (validate.errors ?? []).filter(({ keyword }) => keyword !== 'if');
  // What is empty or of the wrong type is reported once, not again for every part that it lacks.
  const whole = new Map(
    errors
      .filter(({ keyword }) => WHOLE.has(keyword))
      .map((error) => [error.instancePath, error] as const),
  );
  return errors
    .filter((error) => (whole.get(error.instancePath) ?? error) === error)
    .filter(({ instancePath }) => !hasParentIn(whole, instancePath))
    .map((error) => ({ path: placeOf(error, content), message: describe(error) }));
}

const WHOLE = new Set(['x-says', 'type', 'pattern']);

function hasParentIn(whole: ReadonlyMap<string, unknown>, pointer: string): boolean {
  if (whole.size === 0) return false;
  for (let end = pointer.lastIndexOf('/'); end >= 0; end = pointer.lastIndexOf('/', end - 1)) {
    if (whole.has(pointer.slice(0, end))) return true;
    if (end === 0) return false;
  }
  return false;
}

function placeOf({ instancePath, keyword, params }: ErrorObject, content: unknown): string {
  const path = parsePointer(content, instancePath);
  return formatPath(keyword === 'required' ? [...path, params['missingProperty']] : path);
}

function describe({ keyword, schema, parentSchema, data }: ErrorObject): string {
  const asked = [schema].flat().map(String);
  switch (keyword) {
    case 'required':
      return 'is missing.';
    case 'x-says':
      return 'is empty; it must say something.';
    case 'x-one-of':
      return `must be one of: ${asked.join(', ')}.`;
    case 'x-minimum':
      return `must be at least ${asked[0]}.`;
    case 'x-maximum':
      return `must be at most ${asked[0]}.`;
    case 'x-min-length':
      return `must have at least ${asked[0]} characters.`;
    case 'minItems':
      return `must have at least ${asked[0]} entries.`;
    default: {
      const types: readonly string[] = parentSchema?.['x-asked'] ?? asked;
      return `must be ${types.map(nameOf).join(' or ')}, not ${nameOfValue(data)}.`;
    }
  }
}

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

const lettersOf = (text: string): string => text.replace(/(?:\\[nrt"]|[^\p{L}\p{N}])+/gu, '');

/** The letters and digits of a value as JSON, a key or a text at a time. */
function* lettersIn(value: unknown): Generator<string> {
  if (Array.isArray(value)) {
    for (const item of value) yield* lettersIn(item ?? null);
  } else if (isRecord(value)) {
    for (const [key, field] of Object.entries(value)) {
      if (field === undefined) continue;
      yield lettersOf(JSON.stringify(key));
      yield* lettersIn(field);
    }
  } else yield lettersOf(JSON.stringify(value ?? null));
}

/**
 * Whether a document only repeats what was given. A plan may hold a document word for word, so
 * that one which keeps its contract is an echo only of something whole.
 */
function isEcho(content: unknown, given: readonly unknown[], valid: boolean): boolean {
  if (!hasLetters(content, LEAST_ECHO)) return false;
  if (valid) return given.some((one) => isSame(lettersIn(content), lettersIn(one)));
  const said = [...lettersIn(content)].join('');
  return given.some((one) => [...lettersIn(one)].join('').includes(said));
}

function hasLetters(value: unknown, least: number): boolean {
  let letters = 0;
  for (const part of lettersIn(value)) {
    letters += part.length;
    if (letters >= least) return true;
  }
  return false;
}

/** Whether two texts are the same that come in pieces; read as far as they are. */
function isSame(one: Iterator<string>, other: Iterator<string>): boolean {
  let [left, right] = ['', ''];
  for (;;) {
    const [more, others] = [left || nextOf(one), right || nextOf(other)];
    const length = Math.min(more.length, others.length);
    if (length === 0) return more === others;
    if (more.slice(0, length) !== others.slice(0, length)) return false;
    [left, right] = [more.slice(length), others.slice(length)];
  }
}

/** The next piece that is not empty; empty at the end. */
function nextOf(pieces: Iterator<string>): string {
  for (let next = pieces.next(); !next.done; next = pieces.next()) {
    if (next.value !== '') return next.value;
  }
  return '';
}

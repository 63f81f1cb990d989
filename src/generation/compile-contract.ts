import { hash } from 'node:crypto';
import type { SchemaValidateFunction } from 'ajv';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { canonicalJson } from '../text/canonical-json.ts';
import { isBlank, isEmpty } from './is-blank.ts';
import { type ContractSchema, loosenContract } from './loosen-contract.ts';

/** A process that serves many recipes forgets the validators that it made first. */
const MOST_COMPILED = 500;

const ajv = new Ajv2020({
  allErrors: true,
  verbose: true,
  // A section called `constructor` is there only where the answer has it.
  ownProperties: true,
  allowUnionTypes: true,
  strictTypes: false,
  strictRequired: false,
  // It is our own translation of a contract that the recipe's parser has checked.
  validateSchema: false,
  inlineRefs: false,
  // Without it a contract compiles in 6 ms instead of 10 and validates as fast.
  code: { optimize: false },
});

const KEYWORDS: Readonly<Record<string, SchemaValidateFunction>> = {
  'x-says': (_asked: true, value: unknown) => !isEmpty(value),
  'x-blank': (_asked: true, value: unknown) => isBlank(value),
  'x-one-of': (choices: readonly unknown[], value: unknown) =>
    choices.some((one) => isSameWord(one, value)),
  'x-minimum': (least: number, value: unknown) => !(Number(value) < least),
  'x-maximum': (most: number, value: unknown) => !(Number(value) > most),
  'x-min-length': (least: number, value: unknown) => lengthOf(value) >= least,
};
// The types as the contract has them, for messages.
ajv.addKeyword('x-asked');
for (const [keyword, validate] of Object.entries(KEYWORDS)) {
  ajv.addKeyword({ keyword, validate, errors: false });
}

const byObject = new WeakMap<ContractSchema, ValidateFunction>();
const byDigest = new Map<string, ValidateFunction>();

/** The contract as a function; equal contracts are compiled once, since every job loads its own. */
export function compileContract(contract: ContractSchema): ValidateFunction {
  const known = byObject.get(contract);
  if (known !== undefined) return known;
  const digest = hash('sha256', canonicalJson(contract));
  const validate = byDigest.get(digest) ?? compile(contract);
  byDigest.delete(digest);
  byDigest.set(digest, validate);
  const [oldest] = byDigest.keys();
  if (byDigest.size > MOST_COMPILED && oldest !== undefined) byDigest.delete(oldest);
  byObject.set(contract, validate);
  return validate;
}

function compile(contract: ContractSchema): ValidateFunction {
  const schema = loosenContract(contract);
  const validate = ajv.compile(schema);
  // Ajv would keep every schema that it has seen.
  ajv.removeSchema(schema);
  return validate;
}

const isSameWord = (one: unknown, value: unknown): boolean =>
  one === value || (isScalar(value) && String(one).toLowerCase() === String(value).toLowerCase());

const isScalar = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value);

const lengthOf = (value: unknown): number =>
  typeof value === 'string' ? value.trim().length : JSON.stringify(value).length;

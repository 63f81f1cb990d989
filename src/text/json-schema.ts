import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { type JsonPath, parsePointer } from './json-path.ts';

/** The JSON Schema keywords that our own schemas and contracts use. */
export type JsonSchema = {
  readonly $schema?: string;
  readonly $id?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly enum?: readonly (string | number | boolean | null)[];
  readonly const?: string | number | boolean;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly minProperties?: number;
  readonly default?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
};

type SchemaViolation = {
  readonly path: JsonPath;
  readonly message: string;
};

/** Built here and not by ajv, so that the test for expressions of more than linear time sees them. */
const buildExpression = (pattern: string, flags: string): RegExp => new RegExp(pattern, flags);

const ajv = new Ajv2020({
  allErrors: true,
  verbose: true,
  ownProperties: true,
  allowUnionTypes: true,
  // A test checks our schemas; to check them at each start would take 0.1 s.
  validateSchema: false,
  code: { regExp: Object.assign(buildExpression, { code: 'new RegExp' }) },
});
const compiled = new WeakMap<JsonSchema, ValidateFunction>();

/** Every way in which the value breaks one of our own schemas. */
export function checkAgainstSchema(schema: JsonSchema, value: unknown): SchemaViolation[] {
  const validate = compiled.get(schema) ?? ajv.compile(schema);
  compiled.set(schema, validate);
  if (validate(value)) return [];
  return (validate.errors ?? [])
    .filter(({ schemaPath }) => !WITHIN_BRANCH.test(schemaPath))
    .map((error) => ({ path: placeOf(error, value), message: describe(error) }));
}

/** What the branches of an `anyOf` lack, while the whole says that none of them fits. */
const WITHIN_BRANCH = /\/anyOf\/\d+\//;

function placeOf({ instancePath, keyword, params }: ErrorObject, root: unknown): JsonPath {
  const path = parsePointer(root, instancePath);
  return keyword === 'additionalProperties' ? [...path, params['additionalProperty']] : path;
}

function describe({ keyword, schema, parentSchema, data, params, message }: ErrorObject): string {
  const asked = [schema].flat().map(String);
  switch (keyword) {
    case 'type':
      return `must be ${asked.join(' or ')}, not ${nameType(data)}`;
    case 'anyOf':
      return parentSchema?.['description'] ?? 'has none of the accepted forms';
    case 'const':
      return `must be ${asked[0]}`;
    case 'enum':
      return `must be one of ${asked.join(', ')}`;
    case 'pattern':
      return `does not match ${asked[0]}`;
    case 'minimum':
      return `must be at least ${asked[0]}`;
    case 'maximum':
      return `must be at most ${asked[0]}`;
    case 'minLength':
      return `must have at least ${asked[0]} characters`;
    case 'minItems':
      return `must have at least ${asked[0]} items`;
    case 'minProperties':
      return `must have at least ${asked[0]} fields`;
    case 'required':
      return `lacks the field ${params['missingProperty']}`;
    case 'additionalProperties': {
      const known = Object.keys(parentSchema?.['properties'] ?? {}).join(', ');
      return `is not a known field; known are ${known}`;
    }
    default:
      return message ?? `breaks ${keyword}`;
  }
}

function nameType(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

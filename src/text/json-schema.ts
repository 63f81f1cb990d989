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
  readonly propertyNames?: JsonSchema;
  readonly items?: JsonSchema;
  readonly enum?: readonly (string | number | boolean | null)[];
  readonly const?: string | number | boolean;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly minProperties?: number;
  readonly uniqueItems?: boolean;
  readonly default?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
};

export type SchemaPath = readonly (string | number)[];
export type SchemaViolation = {
  readonly path: SchemaPath;
  readonly keyword: string;
  readonly message: string;
};

type Check = { readonly root: JsonSchema; readonly found: SchemaViolation[] };

/**
 * Every way in which the value breaks the schema. Fifty lines of our own, since the published
 * schemas, the parser and the contracts then share one reading; a test compares it with ajv.
 */
export function checkAgainstSchema(schema: JsonSchema, value: unknown): SchemaViolation[] {
  const check: Check = { root: schema, found: [] };
  visit(check, schema, value, []);
  return check.found;
}

function visit(check: Check, given: JsonSchema, value: unknown, path: SchemaPath): void {
  const schema = given.$ref === undefined ? given : resolveRef(check.root, given.$ref);
  const fail = (keyword: string, message: string, at: SchemaPath = path): void => {
    check.found.push({ path: at, keyword, message });
  };
  if (schema.anyOf !== undefined) {
    const fits = schema.anyOf.some((branch) => fitsBranch(check, branch, value));
    if (!fits) fail('anyOf', schema.description ?? 'has none of the accepted forms');
    return;
  }
  const types = typeof schema.type === 'string' ? [schema.type] : schema.type;
  if (types !== undefined && !types.some((type) => isOfType(value, type))) {
    fail('type', `must be ${types.join(' or ')}, not ${nameType(value)}`);
    return;
  }
  checkScalar(schema, value, fail);
  if (Array.isArray(value)) visitArray(check, schema, value, path, fail);
  else if (isRecord(value)) visitObject(check, schema, value, path, fail);
}

type Fail = (keyword: string, message: string, at?: SchemaPath) => void;

function checkScalar(schema: JsonSchema, value: unknown, fail: Fail): void {
  if (schema.const !== undefined && value !== schema.const)
    fail('const', `must be ${schema.const}`);
  if (schema.enum !== undefined && !schema.enum.some((one) => one === value)) {
    fail('enum', `must be one of ${schema.enum.join(', ')}`);
  }
  if (typeof value === 'string') {
    const length = schema.minLength ?? 0;
    if (value.length < length) fail('minLength', `must have at least ${length} characters`);
    if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(value)) {
      fail('pattern', `does not match ${schema.pattern}`);
    }
  }
  if (typeof value === 'number') {
    if (value < (schema.minimum ?? value)) fail('minimum', `must be at least ${schema.minimum}`);
    if (value > (schema.maximum ?? value)) fail('maximum', `must be at most ${schema.maximum}`);
  }
}

function visitArray(
  check: Check,
  schema: JsonSchema,
  value: readonly unknown[],
  path: SchemaPath,
  fail: Fail,
): void {
  if (value.length < (schema.minItems ?? 0)) {
    fail('minItems', `must have at least ${schema.minItems} items`);
  }
  if (schema.uniqueItems === true && new Set(value).size < value.length) {
    fail('uniqueItems', 'has an item twice');
  }
  if (schema.items === undefined) return;
  for (const [index, item] of value.entries()) visit(check, schema.items, item, [...path, index]);
}

function visitObject(
  check: Check,
  schema: JsonSchema,
  value: Readonly<Record<string, unknown>>,
  path: SchemaPath,
  fail: Fail,
): void {
  const known = schema.properties ?? {};
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) fail('required', `lacks the field ${name}`);
  }
  const names = Object.keys(value);
  if (names.length < (schema.minProperties ?? 0)) {
    fail('minProperties', `must have at least ${schema.minProperties} fields`);
  }
  for (const name of names) {
    const at = [...path, name];
    if (schema.propertyNames !== undefined && !fitsBranch(check, schema.propertyNames, name)) {
      fail('propertyNames', `${JSON.stringify(name)} is not a valid name`, at);
    }
    const property = Object.hasOwn(known, name) ? known[name] : undefined;
    if (property !== undefined) visit(check, property, value[name], at);
    else if (schema.additionalProperties === false) {
      const accepted = Object.keys(known).join(', ');
      fail('additionalProperties', `is not a known field; known are ${accepted}`, at);
    } else if (typeof schema.additionalProperties === 'object') {
      visit(check, schema.additionalProperties, value[name], at);
    }
  }
}

function fitsBranch(check: Check, branch: JsonSchema, value: unknown): boolean {
  const trial: Check = { root: check.root, found: [] };
  visit(trial, branch, value, []);
  return trial.found.length === 0;
}

function resolveRef(root: JsonSchema, ref: string): JsonSchema {
  if (ref === '#') return root;
  const target = root.$defs?.[ref.replace('#/$defs/', '')];
  if (target === undefined) throw new Error(`schema has no ${ref}`);
  return target;
}

/** True for JSON objects: neither null nor a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'number') return typeof value === 'number' && Number.isFinite(value);
  return nameType(value) === type;
}

function nameType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

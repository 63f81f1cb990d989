import { formatPath, type JsonPath } from '../text/json-path.ts';
import { checkAgainstSchema, type JsonSchema } from '../text/json-schema.ts';
import { freezeDeep, Memo } from '../text/memo.ts';
import { findLine, readYaml, type YamlLines } from '../text/yaml-lines.ts';
import type { LineIndex, RecipeIssue } from './types.ts';

type ParsedYaml = {
  readonly value: unknown;
  readonly lines: YamlLines;
  readonly issues: readonly RecipeIssue[];
};

/**
 * A run reads its recipe three times over, and an edited recipe is mostly the one before: files with
 * the same text are parsed once. The largest shipped process has 53.
 */
const parsedFiles = new WeakMap<JsonSchema, Memo<ParsedYaml>>();
const KEEP = 200;

/** Parses one YAML file against its schema and remembers the line of every node. */
export function parseYamlFile(file: string, text: string, schema: JsonSchema): ParsedYaml {
  const known = parsedFiles.get(schema) ?? new Memo(KEEP);
  parsedFiles.set(schema, known);
  return known.get(`${file}\n${text}`, () => freezeDeep(parseAnew(file, text, schema)));
}

function parseAnew(file: string, text: string, schema: JsonSchema): ParsedYaml {
  try {
    return readYamlFile(file, text, schema);
  } catch (thrown) {
    // Only abuse is thrown: aliases that multiply, nesting beyond the stack.
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    const issue: RecipeIssue = { code: 'yaml_invalid', message, file, line: 1, field: '' };
    return { value: null, lines: {}, issues: [issue] };
  }
}

function readYamlFile(file: string, text: string, schema: JsonSchema): ParsedYaml {
  const { value, lines, faults } = readYaml(text);
  if (faults.length > 0) {
    const issues = faults.map(({ kind, message, line }): RecipeIssue => {
      const code = kind === 'duplicate key' ? 'duplicate_key' : 'yaml_invalid';
      return { code, message, file, line, field: '' };
    });
    return { value, lines, issues };
  }
  const issues = [...checkAgainstSchema(schema, value), ...findUnwritable(value)].map(
    ({ path, message }): RecipeIssue => ({
      code: path.at(-1) === 'granularity' ? 'unknown_strategy' : 'field_invalid',
      message: `${formatPath(path) || 'the file'} ${message}`,
      ...locate({ [file]: lines }, file, path),
    }),
  );
  return { value, lines, issues };
}

type Unwritable = { readonly path: JsonPath; readonly message: string };

/** Texts that no database holds: YAML can write NUL and half a character as escapes. */
function findUnwritable(value: unknown, path: JsonPath = []): Unwritable[] {
  if (typeof value === 'string') {
    if (isWritable(value)) return [];
    return [{ path, message: 'holds NUL or half a character, which no text may hold' }];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) =>
    isWritable(key)
      ? findUnwritable(part, [...path, Array.isArray(value) ? Number(key) : key])
      : [{ path, message: 'has a key with NUL or half a character' }],
  );
}

const isWritable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

/** File, line and readable field of a place; a node that is absent has its parent's line. */
export const locate = (
  lines: LineIndex,
  file: string,
  path: JsonPath,
): Pick<RecipeIssue, 'file' | 'line' | 'field'> => ({
  file,
  line: findLine(lines[file] ?? {}, path),
  field: formatPath(path),
});

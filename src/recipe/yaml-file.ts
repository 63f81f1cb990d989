import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { checkAgainstSchema, type JsonSchema, type SchemaPath } from '../text/json-schema.ts';
import type { LineIndex, RecipeIssue } from './types.ts';

export type ParsedYaml = {
  readonly value: unknown;
  /** JSON pointer to one-based line. */
  readonly lines: Readonly<Record<string, number>>;
  readonly issues: readonly RecipeIssue[];
};

/** Parses one YAML file against its schema and remembers the line of every node. */
export function parseYamlFile(file: string, text: string, schema: JsonSchema): ParsedYaml {
  try {
    return readYamlFile(file, text, schema);
  } catch (thrown) {
    // The parser throws only on abuse: aliases that multiply, nesting beyond the stack.
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    const issue: RecipeIssue = { code: 'yaml_invalid', message, file, line: 1, field: '' };
    return { value: null, lines: {}, issues: [issue] };
  }
}

function readYamlFile(file: string, text: string, schema: JsonSchema): ParsedYaml {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, uniqueKeys: true });
  const lineAt = (offset: number): number => Math.max(1, lineCounter.linePos(offset).line);
  if (document.errors.length > 0) {
    const issues = document.errors.map((error): RecipeIssue => {
      const code = error.code === 'DUPLICATE_KEY' ? 'duplicate_key' : 'yaml_invalid';
      const message = error.message.split('\n')[0] ?? error.code;
      return { code, message, file, line: lineAt(error.pos[0]), field: '' };
    });
    return { value: null, lines: {}, issues };
  }
  const lines: Record<string, number> = {};
  indexLines(document.contents, '', lines, lineAt);
  const value: unknown = document.toJS({ maxAliasCount: 100 });
  const issues = [...checkAgainstSchema(schema, value), ...findUnwritable(value)].map(
    (violation): RecipeIssue => {
      const strategy = violation.path.at(-1) === 'granularity';
      return {
        code: strategy ? 'unknown_strategy' : 'field_invalid',
        message: `${formatField(violation.path) || 'the file'} ${violation.message}`,
        ...locate({ [file]: lines }, file, violation.path),
      };
    },
  );
  return { value, lines, issues };
}

type Unwritable = { readonly path: SchemaPath; readonly message: string };

/** Texts that no database holds: YAML can write NUL and half a character as escapes. */
function findUnwritable(value: unknown, path: SchemaPath = []): Unwritable[] {
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

function indexLines(
  node: Node | null,
  pointer: string,
  lines: Record<string, number>,
  lineAt: (offset: number) => number,
): void {
  if (node === null || isAlias(node)) return;
  lines[pointer] ??= lineAt(node.range?.[0] ?? 0);
  if (isMap<Node, Node | null>(node)) {
    for (const pair of node.items) {
      if (!isScalar(pair.key)) continue;
      const at = `${pointer}/${escapePointer(String(pair.key.value))}`;
      lines[at] = lineAt(pair.key.range?.[0] ?? 0);
      indexLines(pair.value, at, lines, lineAt);
    }
  } else if (isSeq<Node>(node)) {
    for (const [index, item] of node.items.entries()) {
      indexLines(item, `${pointer}/${index}`, lines, lineAt);
    }
  }
}

const escapePointer = (part: string): string => part.replaceAll('~', '~0').replaceAll('/', '~1');

/** File, line and readable field of a place; a node that is absent has its parent's line. */
export function locate(
  lines: LineIndex,
  file: string,
  path: SchemaPath,
): Pick<RecipeIssue, 'file' | 'line' | 'field'> {
  const known = lines[file] ?? {};
  for (let length = path.length; length >= 0; length -= 1) {
    const parts = path.slice(0, length).map((part) => `/${escapePointer(String(part))}`);
    const line = known[parts.join('')];
    if (line !== undefined) return { file, line, field: formatField(path) };
  }
  return { file, line: 1, field: formatField(path) };
}

/** `['steps', 2, 'key']` as `steps[2].key`. */
function formatField(path: SchemaPath): string {
  return path
    .map((part, index) => {
      if (typeof part === 'number') return `[${part}]`;
      return index === 0 ? part : `.${part}`;
    })
    .join('');
}

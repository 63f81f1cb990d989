import { readdirSync, readFileSync } from 'node:fs';

/** A call `.query<Row>(statement, …)` in the program's source. */
export type QueryCall = {
  /** Relative to the repository. */
  readonly file: string;
  /** Where the text of `Row` begins and ends in the file. */
  readonly start: number;
  readonly end: number;
  /** Undefined where it is put together at run time. */
  readonly statement: string | undefined;
};

/** The source files of the program, relative to the repository. */
export const sourceFiles = (root: URL): string[] =>
  readdirSync(new URL('src/', root), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => `src/${name}`);

/** Finds the calls with a row type. */
export function findQueryCalls(root: URL, file: string): QueryCall[] {
  const place = new URL(file, root);
  const text = readFileSync(place, 'utf8');
  const imported = [...text.matchAll(/ from '(\.[^']+)';/g)].map(([, path = '']) =>
    readFileSync(new URL(path, place), 'utf8'),
  );
  const withImports = [text, ...imported].join('\n');
  return [...text.matchAll(/\.(?:query|queryOne|queryForAll|immediate)</g)].map((match) => {
    const start = match.index + match[0].length;
    const end = endOfTypeArgument(text, start);
    const immediate = match[0] === '.immediate<';
    const statement = immediate ? undefined : readString(withImports, end + 2);
    return { file, start, end, statement };
  });
}

function endOfTypeArgument(text: string, start: number): number {
  let depth = 1;
  for (let at = start; ; at++) {
    if (text[at] === '<') depth++;
    if (text[at] === '>' && --depth === 0) return at;
  }
}

/** The string that a call's first argument is; constants of this file and of those that it imports are put in. */
function readString(text: string, from: number): string | undefined {
  const rest = text.slice(from).trimStart();
  const plain = /^(?:'([^'\\]*)'|"([^"\\]*)")/.exec(rest);
  if (plain) return plain[1] ?? plain[2];
  const template = /^`([^`]*)`/.exec(rest);
  if (template) return fillTemplate(text, template[1]!);
  const name = /^(\w+)\b/.exec(rest)?.[1];
  return name === undefined ? undefined : readConstant(text, name);
}

function fillTemplate(text: string, template: string): string | undefined {
  let complete = true;
  const filled = template.replace(/\$\{(\w+)\}|\$\{[^}]*\}/g, (_, name?: string) => {
    const value = name === undefined ? undefined : readConstant(text, name);
    if (value === undefined) complete = false;
    return value ?? '';
  });
  return complete ? filled : undefined;
}

function readConstant(text: string, name: string): string | undefined {
  const found = new RegExp(`^(?:export )?const ${name} =\\s*`, 'm').exec(text);
  if (!found) return undefined;
  const from = found.index + found[0].length;
  return /^[\d_]+;/.exec(text.slice(from))?.[0].replaceAll(/[_;]/g, '') ?? readString(text, from);
}

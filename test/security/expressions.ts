import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { vi } from 'vitest';
import { parseAst } from 'vitest/node';

const source = fileURLToPath(new URL('../../src/', import.meta.url));

/** A regular expression of the program and where it stands. */
export type Expression = { readonly place: string; readonly expression: RegExp };

type Node = { type?: string; start: number; end: number; [field: string]: unknown };

/** What the parser finds in a file: literals, and calls that build an expression at run time. */
type Found = { readonly literals: Expression[]; readonly built: number };

const files = (): string[] =>
  readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/\.(?:test|fixture)\.ts$/.test(name))
    .toSorted();

function findIn(file: string): Found {
  const text = readFileSync(join(source, file), 'utf8');
  const literals: Expression[] = [];
  let built = 0;
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) visit(item);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    const node = value as Node & {
      regex?: { pattern: string; flags: string };
      callee?: { name?: string };
    };
    if (node.regex) {
      const line = text.slice(0, node.start).split('\n').length;
      const { pattern, flags } = node.regex;
      literals.push({ place: `${file}:${line}`, expression: new RegExp(pattern, flags) });
    }
    if (node.callee?.name === 'RegExp') built += 1;
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseAst(text, { lang: 'ts' }));
  return { literals, built };
}

/** Every literal in src/, by the parser of the test runner. */
export const literalExpressions = (): Expression[] =>
  files().flatMap((file) => findIn(file).literals);

/** How many calls in src/ build an expression, by file. */
export const countBuilt = (): Map<string, number> =>
  new Map(
    files()
      .map((file) => [file, findIn(file).built] as const)
      .filter(([, built]) => built > 0),
  );

/**
 * The expressions that modules build while they are loaded and while `use` runs. Only those count
 * that a file of src/ builds itself, not those of the packages that it calls.
 */
export async function builtExpressions(use: () => Promise<void>): Promise<Expression[]> {
  const made: Expression[] = [];
  const native = globalThis.RegExp;
  const note = (expression: RegExp): RegExp => {
    const caller = new Error('where').stack?.split('\n')[3] ?? '';
    const file = /\/src\/(?<file>[\w./-]+\.ts)/.exec(caller)?.groups?.['file'];
    if (file !== undefined) made.push({ place: file, expression });
    return expression;
  };
  globalThis.RegExp = new Proxy(native, {
    construct: (target, args: [string, string?]) => note(new target(...args)),
    apply: (target, _self, args: [string, string?]) => note(target(...args)),
  });
  // Test files share modules: those that were loaded before would build nothing now.
  vi.resetModules();
  try {
    for (const file of countBuilt().keys()) await import(pathToFileURL(join(source, file)).href);
    await use();
  } finally {
    globalThis.RegExp = native;
  }
  return made;
}

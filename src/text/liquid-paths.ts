import {
  type Arguments,
  analyzeSync,
  Output,
  type PartialScope,
  type Template,
  toValueSync,
  Variable,
} from 'liquidjs';
import { describeFault } from './liquid.ts';

/** A step of a path: a field, `ITEM` for any element of a list, `ANY` for a computed field. */
export type PathPart = string | typeof ITEM | typeof ANY;
export const ITEM = Symbol('item');
export const ANY = Symbol('any');

/** One use of a variable, followed back through loops and assignments to where it comes from. */
export type VariableUse = {
  readonly path: readonly PathPart[];
  readonly line: number;
  readonly file: string;
  /** Printed, in contrast to tested or looped over. */
  readonly printed: boolean;
};

/** A text that a template includes and that cannot be had. */
export type IncludeFault = {
  readonly message: string;
  readonly line: number;
  readonly file: string;
};

/** A name in a template: the path it stands for, or null for what we do not follow. */
type Scope = Map<string, readonly PathPart[] | null>;
type Walk = {
  readonly uses: VariableUse[];
  readonly faults: IncludeFault[];
  readonly active: Set<string>;
  file: string;
};
type LoopTag = Template & { readonly variable: string };
type IncludeTag = Template & { readonly hash?: { readonly hash: Record<string, ValueToken> } };
type ValueToken = Arguments extends Iterable<infer Item> ? Item : never;

/**
 * Every variable that a template uses. LiquidJS's own analysis stops at loop variables; strict
 * checking of `{% for f in content.features %}{{ f.name }}` needs to know what `f` stands for.
 */
export function findVariableUses(
  templates: readonly Template[],
  file: string,
): { readonly uses: readonly VariableUse[]; readonly faults: readonly IncludeFault[] } {
  const walk: Walk = { uses: [], faults: [], active: new Set([file]), file };
  visitAll(walk, templates, new Map());
  return { uses: walk.uses, faults: walk.faults };
}

function visitAll(walk: Walk, templates: readonly Template[], scope: Scope): void {
  for (const template of templates) visit(walk, template, scope);
}

function visit(walk: Walk, template: Template, scope: Scope): void {
  const uses = readArguments(walk, template, scope);
  walk.uses.push(...uses);
  const first = uses[0]?.path ?? null;
  for (const identifier of template.localScope?.() ?? []) {
    scope.set(identifier.content, isTag(template, 'assign') ? first : null);
  }
  if (template.children === undefined) return;
  if (template.partialScope === undefined) {
    visitAll(walk, childrenOf(template), blockScope(template, scope, first));
    return;
  }
  const partial = template.partialScope();
  if (partial === undefined) addFault(walk, template, 'an included file must be a literal name');
  else visitPartial(walk, template, partial, scope);
}

function addFault(walk: Walk, template: Template, message: string): void {
  walk.faults.push({ message, line: template.token.getPosition()[0] ?? 1, file: walk.file });
}

function visitPartial(walk: Walk, template: Template, partial: PartialScope, outer: Scope): void {
  if (walk.active.has(partial.name)) {
    addFault(walk, template, `${partial.name} includes itself`);
    return;
  }
  const { file } = walk;
  const scope = partialScope(walk, template, partial, outer);
  let children: Template[];
  try {
    children = childrenOf(template);
  } catch (thrown) {
    const { message } = describeFault(thrown);
    addFault(walk, template, `${partial.name} cannot be included: ${message}`);
    return;
  }
  walk.active.add(partial.name);
  walk.file = partial.name;
  visitAll(walk, children, scope);
  walk.file = file;
  walk.active.delete(partial.name);
}

const childrenOf = (template: Template): Template[] => toValueSync(template.children!(true, true));

function blockScope(template: Template, scope: Scope, first: VariableUse['path'] | null): Scope {
  const names = [...(template.blockScope?.() ?? [])];
  if (names.length === 0) return scope;
  const inner: Scope = new Map(scope);
  for (const name of names) inner.set(name, null);
  if (isTag(template, 'for') || isTag(template, 'tablerow')) {
    inner.set((template as LoopTag).variable, first === null ? null : [...first, ITEM]);
  }
  return inner;
}

/** LiquidJS names the parameters of an include; what they stand for is in the tag's own hash. */
function partialScope(walk: Walk, template: Template, partial: PartialScope, outer: Scope): Scope {
  const inner: Scope = partial.isolated ? new Map() : new Map(outer);
  const given = (template as IncludeTag).hash?.hash ?? {};
  for (const name of partial.scope) {
    const [alias, value] = typeof name === 'string' ? [name, given[name]] : name;
    const pseudo: Template = {
      token: template.token,
      render: () => undefined,
      arguments: () => (value === undefined ? [] : [value]),
    };
    inner.set(alias, readArguments(walk, pseudo, outer)[0]?.path ?? null);
  }
  return inner;
}

const isTag = (template: Template, name: string): boolean =>
  'name' in template && template.name === name;

function readArguments(walk: Walk, template: Template, scope: Scope): VariableUse[] {
  if (template.arguments === undefined) return [];
  const alone: Template = {
    token: template.token,
    render: () => undefined,
    arguments: () => template.arguments!(),
  };
  const { variables } = analyzeSync([alone], { partials: false });
  return Object.values(variables)
    .flat()
    .flatMap((variable): VariableUse[] => {
      const path = resolvePath(variable, scope);
      if (path === null) return [];
      const line = variable.location.row;
      return [{ path, line, file: walk.file, printed: template instanceof Output }];
    });
}

function resolvePath(variable: Variable, scope: Scope): readonly PathPart[] | null {
  const [root, ...rest] = variable.segments;
  if (typeof root !== 'string') return null;
  const start = scope.has(root) ? scope.get(root) : [root];
  if (start === null || start === undefined) return null;
  return [...start, ...rest.map(toPart)];
}

function toPart(segment: string | number | Variable): PathPart {
  if (segment instanceof Variable) return ANY;
  if (typeof segment === 'number' || segment === 'first' || segment === 'last') return ITEM;
  return segment;
}

import { Liquid, type Template } from 'liquidjs';
import { DialecticError } from '../errors/errors.ts';
import { gatherOpenQuestions, type OpenQuestion } from '../recipe/open-questions.ts';
import { humanise, isBlank, toMarkdown, toTable } from '../text/markdown-blocks.ts';
import { dedent, joinEmptyLines, safeBlock, safeCell, safeInline } from '../text/markdown-text.ts';
import { makeInert } from '../text/safe-markdown.ts';
import { createFinder } from './find-shown.ts';
import { isRecord } from './json-reader.ts';
import type { ContractSchema } from './loosen-contract.ts';
import { leftOver, type Path, track } from './tracked.ts';

type RenderInput = {
  /** LiquidJS; sees `document` and `content`. */
  readonly template: string;
  readonly schema: ContractSchema;
  readonly content: Readonly<Record<string, unknown>>;
  readonly document: Readonly<Record<string, unknown>> & { readonly title: string };
  /** Texts that the template may include, by name. */
  readonly partials?: Readonly<Record<string, string>>;
};

type RenderedDocument = {
  readonly markdown: string;
  readonly openQuestions: readonly OpenQuestion[];
  /** Titles of the sections that the template had no place for. */
  readonly appended: readonly string[];
};

/**
 * Turns a validated document into Markdown. The template is strict: a name that neither the
 * contract nor the document knows is an error. Whatever of the document does not show in the
 * result gets a place at the end, so that nothing is lost to a template.
 */
export function renderMarkdown(input: RenderInput): RenderedDocument {
  const fitted = fit(input.schema, structuredClone(input.content));
  const tracked = track(fitted);
  const body = renderTemplate(input, tracked.value);
  const isShown = createFinder(body);
  const hasPlace = (path: Path, scalar: unknown): boolean =>
    isForCode(input.schema, path) ||
    (tracked.wasRead(path) && (typeof scalar !== 'string' || isShown(scalar)));
  const rest = leftOver(input.content, hasPlace);
  const appended = Object.entries(isRecord(rest) ? rest : {});
  const blocks = appended.map(
    ([key, value]) => `## ${safeInline(humanise(key))}\n\n${toMarkdown(value, 3)}`,
  );
  const openQuestions = gatherOpenQuestions(input.content, input.schema);
  return {
    // Once more as a whole: a value is safe where it stands, and a template may hold anything.
    markdown: makeInert(joinBlocks([body, ...blocks, renderQuestions(openQuestions)])),
    openQuestions,
    appended: appended.map(([key]) => humanise(key)),
  };
}

/** Whether the contract keeps what lies at a path, or what holds it, from readers. */
function isForCode(schema: ContractSchema, path: Path): boolean {
  let node: unknown = schema;
  for (const part of path) {
    const { properties, items } = (node ?? {}) as {
      properties?: Readonly<Record<string, unknown>>;
      items?: unknown;
    };
    node =
      typeof part === 'number'
        ? items
        : properties && Object.hasOwn(properties, part)
          ? properties[part]
          : undefined;
    if (isRecord(node) && node['x-shown'] === false) return true;
  }
  return false;
}

/** Questions within sections are easily missed, so that all are listed once more in one place. */
function renderQuestions(questions: readonly OpenQuestion[]): string {
  if (questions.every(({ where }) => where.length === 0)) return '';
  const lines = questions.map(({ question, where, assumption }) => {
    const origin = where.length > 0 ? ` (${where.map(safeInline).join(' › ')})` : '';
    const until = assumption === null ? '' : ` Assumption: ${safeInline(assumption)}`;
    return `- ${safeInline(question)}${origin}${until}`;
  });
  return `## All open questions\n\n${lines.join('\n')}`;
}

const joinBlocks = (blocks: readonly string[]): string =>
  `${blocks
    .map((block) => block.trim())
    .filter(Boolean)
    .join('\n\n')}\n`;

/** By the texts that a template may include: their engine, and the templates that it has parsed. */
type Parsed = { readonly engine: Liquid; readonly templates: Map<string, Template[]> };
const parsedTexts = new WeakMap<object, Parsed>();

function parsedOf(partials: Readonly<Record<string, string>>): Parsed {
  const known = parsedTexts.get(partials);
  if (known) return known;
  const made = { engine: createEngine(partials), templates: new Map<string, Template[]>() };
  parsedTexts.set(partials, made);
  return made;
}

function renderTemplate(input: RenderInput, content: unknown): string {
  const { engine, templates } = parsedOf(input.partials ?? {});
  const scope = { document: input.document, content };
  try {
    const template = templates.get(input.template) ?? engine.parse(prepareTemplate(input.template));
    templates.set(input.template, template);
    try {
      return joinEmptyLines(String(engine.renderSync(template, scope)));
    } catch (error) {
      if (!isAbsentField(error, input.schema)) throw error;
      return joinEmptyLines(String(engine.renderSync(template, scope, { strictVariables: false })));
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new DialecticError('template_invalid', `The template fails: ${message}`, {
      cause: error,
      details: { document: input.document.title },
    });
  }
}

/** A field that the contract knows, within an optional record that the document lacks. */
function isAbsentField(error: unknown, schema: ContractSchema): boolean {
  const name = /undefined variable: content\.([\w.-]+)/.exec(String(error))?.[1];
  let node: unknown = schema;
  for (const key of name?.split('.') ?? ['']) {
    const properties = isRecord(node) ? node['properties'] : undefined;
    node = isRecord(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
  }
  return node !== undefined;
}

/** What a filter of ours made: already safe, so that printing leaves it alone. */
type Rendered = { readonly rendered: string; toString(): string };
/** Nothing stays an empty text, so that a template can ask for it. */
const rendered = (text: string): Rendered | '' =>
  text === '' ? '' : { rendered: text, toString: () => text };
const isRendered = (value: unknown): value is Rendered =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, 'rendered');

function createEngine(partials: Readonly<Record<string, string>>): Liquid {
  const prepared = Object.entries(partials).map(([name, text]) => [name, prepareTemplate(text)]);
  const engine = new Liquid({
    templates: Object.fromEntries(prepared) as Record<string, string>,
    strictVariables: true,
    strictFilters: true,
    lenientIf: true,
    ownPropertyOnly: true,
    outputEscape: print,
    cache: true,
    parseLimit: 2_000_000,
    renderLimit: 60_000,
    memoryLimit: 200_000_000,
  });
  engine.registerFilter('markdown', (value, level = 3) =>
    rendered(toMarkdown(value, Number(level))),
  );
  engine.registerFilter('table', (value) => rendered(toTable(value)));
  engine.registerFilter('inline', (value) => rendered(safeInline(plain(value))));
  engine.registerFilter('cell', (value) => rendered(safeCell(plain(value))));
  return engine;
}

const plain = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  if (isRendered(value)) return value.rendered;
  return typeof value === 'string' ? value : toMarkdown(value);
};

function print(value: unknown): string {
  if (isRendered(value)) return value.rendered;
  if (typeof value !== 'string') return plain(value);
  return value.trim().includes('\n') ? safeBlock(value, 3) : safeInline(value);
}

/**
 * Makes a template's indentation harmless: four spaces before a heading or a block would turn it
 * into code. In headings and rows of tables, values are kept on their line.
 */
function prepareTemplate(template: string): string {
  return dedent(template)
    .split('\n')
    .map((line) => (isBlockLine(line.trim()) ? line.trimStart() : line))
    .map((line) => {
      if (/^#{1,6}\s/.test(line)) return line.replace(OUTPUT_END, ' | inline $1');
      return /^\s*\|.*\|\s*$/.test(line) ? line.replace(OUTPUT_END, ' | cell $1') : line;
    })
    .join('\n');
}

const OUTPUT_END = /(?:(?<!\s)\s+)?(-?\}\})/g;

/** A heading, a tag, or an output on its own that prints blocks. */
function isBlockLine(line: string): boolean {
  if (/^(?:#{1,6}\s|\{%)/.test(line)) return true;
  const isOutput = line.startsWith('{{') && line.indexOf('}') === line.length - 2;
  return isOutput && line.endsWith('}}') && /\|\s*(?:markdown|table)\b/.test(line);
}

/** The value with every field that the contract knows, null where the document has none. */
function fit(schema: unknown, value: unknown): unknown {
  if (!isRecord(schema) || value === null || value === undefined) return value ?? null;
  const { properties, items } = schema;
  if (isRecord(properties)) {
    if (!isRecord(value)) return null;
    const known = Object.entries(properties).map(([key, child]) => [
      key,
      Object.hasOwn(value, key) ? fit(child, value[key]) : null,
    ]);
    return { ...value, ...(Object.fromEntries(known) as Record<string, unknown>) };
  }
  if (!isRecord(items)) return value;
  const list = Array.isArray(value) ? value : [value];
  return list.map((item: unknown) => fit(items, item)).filter((item) => !isBlank(item));
}

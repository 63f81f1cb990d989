import { Liquid, type Template } from 'liquidjs';
import { DialecticError } from '../errors/errors.ts';
import { toMarkdown, toTable } from './markdown-blocks.ts';
import { isTimeless, RenderOnce } from './render-once.ts';

/** Recipes come from users: no file system, no prototypes, bounded size, memory and time. */
export function createEngine(partials: Readonly<Record<string, string>>): Liquid {
  const engine = new Liquid({
    templates: { ...partials },
    strictVariables: true,
    strictFilters: true,
    outputEscape: printOutput,
    lenientIf: true,
    ownPropertyOnly: true,
    dynamicPartials: true,
    cache: true,
    parseLimit: 2_000_000,
    renderLimit: 5_000,
    memoryLimit: 200_000_000,
  });
  if (isTimeless(partials)) engine.registerTag('render', RenderOnce);
  engine.registerFilter('markdown', (value: unknown, level?: number) => toMarkdown(value, level));
  engine.registerFilter('table', (value: unknown) => toTable(value));
  return engine;
}

/** What was parsed of some texts, with the engine that renders it. */
type Parsed = { readonly engine: Liquid; readonly templates: Map<string, Template[]> };

const parsedTexts = new WeakMap<Readonly<Record<string, string>>, Parsed>();

/** The engine of these texts, made once for each object that holds them; they never change. */
function parsedOf(partials: Readonly<Record<string, string>>): Parsed {
  const known = parsedTexts.get(partials);
  if (known) return known;
  const made = { engine: createEngine(partials), templates: new Map<string, Template[]>() };
  parsedTexts.set(partials, made);
  return made;
}

/** A list or record that is printed without a filter is still readable. */
function printOutput(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : toMarkdown(value);
}

/** Where a template is wrong; the line is one-based. */
type LiquidFault = { readonly message: string; readonly line: number };

/** The template's nodes, or what is wrong with it. */
export function parseTemplate(
  engine: Liquid,
  text: string,
  file: string,
): { readonly templates: Template[] } | { readonly fault: LiquidFault } {
  try {
    return { templates: engine.parse(text, file) };
  } catch (thrown) {
    return { fault: describeFault(thrown) };
  }
}

/** Far above every window; a loop in a template makes more without being told to stop. */
const LONGEST_TEXT = 20_000_000;

/** Renders one text with the given variables; a fault names the file and the line. */
export function renderLiquid(
  partials: Readonly<Record<string, string>>,
  file: string,
  scope: object,
): string {
  const text = Object.hasOwn(partials, file) ? partials[file] : undefined;
  if (text === undefined) {
    throw new DialecticError('recipe_invalid', `The recipe has no file ${file}.`, {
      details: { file },
    });
  }
  const rendered = renderText(parsedOf(partials), file, text, scope);
  if (rendered.length <= LONGEST_TEXT) return rendered;
  const size = `${rendered.length} characters; ${LONGEST_TEXT} may be`;
  throw new DialecticError('recipe_invalid', `${file} renders to ${size}.`, { details: { file } });
}

function renderText(parsed: Parsed, file: string, text: string, scope: object): string {
  const { engine, templates } = parsed;
  try {
    const template = templates.get(file) ?? engine.parse(text, file);
    templates.set(file, template);
    return String(engine.renderSync(template, scope));
  } catch (thrown) {
    const fault = describeFault(thrown);
    throw new DialecticError('recipe_invalid', `${file}:${fault.line}: ${fault.message}`, {
      cause: thrown,
      details: { file, line: fault.line },
    });
  }
}

/** LiquidJS puts file, line and column into its messages; we take the line and keep the sense. */
export function describeFault(thrown: unknown): LiquidFault {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const line = /, line:(\d+)/.exec(message)?.[1];
  return {
    message: message.replace(/, (?:file:[^,]*, )?line:\d[^]*/, ''),
    line: line === undefined ? 1 : Number(line),
  };
}

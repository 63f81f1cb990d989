import { isRecord } from './is-record.ts';
import { safeBlock, safeCell, safeInline } from './markdown-text.ts';

type Fields = readonly (readonly [string, unknown])[];

const LONGEST_CELL = 160;
const MOST_COLUMNS = 6;
/** Fields that name a record, the best first. */
const TITLE_KEYS = [/(^|_)title$/, /(^|_)name$/, /(^|_)(id|path|dimension|component)$/];
const DEEPEST_HEADING = 4;
/** Lists within lists; deeper ones are written on a line, since each level indents every line. */
const DEEPEST_LIST = 8;

/**
 * Any JSON value as Markdown: texts as they are, lists as lists, lists of short records as
 * tables, other records as sub-sections whose headings start at `level`. Nothing is left out.
 */
export function toMarkdown(value: unknown, level = 3): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return '_None._';
    return renderList(
      value.filter((item) => !isBlank(item)),
      level,
    );
  }
  if (isBlank(value)) return '';
  if (isRecord(value)) return renderFields(Object.entries(value), level);
  return typeof value === 'string' ? safeBlock(value, level) : JSON.stringify(value);
}

/** A list of records as a table, whatever its cells hold. */
export function toTable(value: unknown): string {
  const rows = (Array.isArray(value) ? value : [value]).filter((row) => !isBlank(row));
  if (rows.length === 0 || !rows.every(isRecord)) return toMarkdown(value);
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return [
    line(keys.map((key) => safeCell(humanise(key)))),
    line(keys.map(() => '---')),
    ...rows.map((row) => line(keys.map((key) => safeCell(toWords(row[key]))))),
  ].join('\n');
}

/** Nothing in it that could be shown; zero and false are something. */
export function isBlank(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (typeof value === 'string') return value.trim() === '';
  if (Array.isArray(value)) return value.every(isBlank);
  return isRecord(value) && Object.values(value).every(isBlank);
}

/** `risks_&_mitigation` as `Risks & mitigation`. */
export function humanise(key: string): string {
  const words = key.replaceAll(/[_-]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** What a record is called, where one of its fields says so. */
export function titleOf(record: Readonly<Record<string, unknown>>): string | undefined {
  const found = findTitle(Object.entries(record));
  return found ? safeInline(String(found[1])) : undefined;
}

/** Any value on one line. */
export function toWords(value: unknown): string {
  if (isBlank(value)) return '';
  if (Array.isArray(value)) return value.map(toWords).filter(Boolean).join('; ');
  if (!isRecord(value)) return String(value);
  return Object.entries(value)
    .filter(([, inner]) => !isBlank(inner))
    .map(([key, inner]) => `${humanise(key)}: ${toWords(inner)}`)
    .join('; ');
}

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const heading = (level: number): string => '#'.repeat(Math.min(level, 6));
const isShort = (value: unknown): boolean =>
  isBlank(value) ||
  typeof value === 'number' ||
  typeof value === 'boolean' ||
  (typeof value === 'string' && value.length <= LONGEST_CELL && !value.trim().includes('\n'));

const isSimpleList = (value: unknown): boolean => Array.isArray(value) && value.every(isShort);

function findTitle(fields: Fields): readonly [string, unknown] | undefined {
  const candidates = fields.filter(([, value]) => !isBlank(value) && isShort(value));
  for (const pattern of TITLE_KEYS) {
    const found = candidates.find(([key]) => pattern.test(key));
    if (found) return found;
  }
  return undefined;
}

function renderList(items: readonly unknown[], level: number): string {
  if (items.length > 0 && items.every(isRecord)) {
    const columns = new Set(items.flatMap((item) => Object.keys(item)));
    const flat = items.every((item) => Object.values(item).every(isShort));
    if (items.length > 1 && flat && columns.size <= MOST_COLUMNS) return toTable(items);
    return items.map((item, index) => renderItem(item, index, level)).join('\n\n');
  }
  const bullets = items.map((item) => {
    const isDeep = isRecord(item) || (Array.isArray(item) && depthOf(item) > DEEPEST_LIST);
    const text = isDeep ? safeInline(toWords(item)) : toMarkdown(item, level);
    return `- ${text.replaceAll('\n', '\n  ')}`;
  });
  return bullets.join(bullets.some((bullet) => bullet.includes('\n')) ? '\n\n' : '\n');
}

/** How many lists lie within each other. */
const depthOf = (value: unknown): number =>
  Array.isArray(value) ? 1 + value.reduce((most, item) => Math.max(most, depthOf(item)), 0) : 0;

function renderItem(item: Record<string, unknown>, index: number, level: number): string {
  const fields = Object.entries(item);
  const title = findTitle(fields);
  const rest = fields.filter((field) => field !== title);
  const words = title ? safeInline(String(title[1])) : `${index + 1}`;
  return `${heading(level)} ${words}\n\n${renderFields(rest, level + 1)}`.trim();
}

function renderFields(fields: Fields, level: number): string {
  return fields
    .filter(([, value]) => !isBlank(value))
    .map(([key, value]) => {
      const title = safeInline(humanise(key));
      if (isShort(value)) return `**${title}:** ${safeInline(String(value))}`;
      const label = level > DEEPEST_HEADING || isSimpleList(value);
      const head = label ? `**${title}:**` : `${heading(level)} ${title}`;
      return `${head}\n\n${toMarkdown(value, level + 1)}`;
    })
    .join('\n\n');
}

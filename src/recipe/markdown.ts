import { isRecord } from './json-schema.ts';

type Field = readonly [string, unknown];

/**
 * Any JSON value as Markdown: text as paragraphs, lists as lists, lists of flat records as tables,
 * other records as sub-sections whose headings start at `level`. Nothing is dropped.
 */
export function toMarkdown(value: unknown, level = 3): string {
  return renderBlock(value, level).trim();
}

/** A list of records as a table, whatever its cells hold. */
export function toTable(value: unknown): string {
  const rows = (Array.isArray(value) ? value : [value]).filter((row) => !isBlank(row));
  if (!rows.every(isRecord)) return toMarkdown(value);
  return rows.length === 0 ? '' : renderTable(rows);
}

const isBlank = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  (typeof value === 'string' && value.trim() === '') ||
  (Array.isArray(value) && value.every(isBlank)) ||
  (isRecord(value) && Object.values(value).every(isBlank));

function renderBlock(value: unknown, level: number): string {
  if (isBlank(value)) return '';
  if (Array.isArray(value)) return renderList(value, level);
  if (isRecord(value)) return renderRecord(Object.entries(value), level);
  return printScalar(value);
}

function renderList(items: readonly unknown[], level: number): string {
  const present = items.filter((item) => !isBlank(item));
  if (present.every(isRecord)) {
    if (present.length > 1 && present.every(isFlat)) return renderTable(present);
    return present.map((item, index) => renderItem(item, index, level)).join('\n\n');
  }
  return present.map((item) => `- ${indent(renderBlock(item, level))}`).join('\n');
}

const indent = (text: string): string => text.replaceAll('\n', '\n  ');

/** A cell of a table has room for a short line, not for paragraphs. */
const isFlat = (record: Readonly<Record<string, unknown>>): boolean =>
  Object.values(record).every(
    (value) =>
      isBlank(value) ||
      (typeof value === 'string' && value.length <= 160 && !value.includes('\n')) ||
      typeof value === 'number' ||
      typeof value === 'boolean',
  );

const TITLE_KEYS = ['title', 'name'];

function renderItem(item: Record<string, unknown>, index: number, level: number): string {
  const fields = Object.entries(item);
  const named = fields.find(
    ([key, value]) =>
      typeof value === 'string' && TITLE_KEYS.some((end) => key === end || key.endsWith(`_${end}`)),
  );
  const title = named === undefined ? `${index + 1}` : String(named[1]);
  const rest = fields.filter((field) => field !== named);
  return `${heading(level)} ${oneLine(title)}\n\n${renderRecord(rest, level + 1)}`;
}

function renderRecord(fields: readonly Field[], level: number): string {
  return fields
    .filter(([, value]) => !isBlank(value))
    .map(([key, value]) => {
      const title = humanise(key);
      if (!Array.isArray(value) && !isRecord(value)) {
        const text = printScalar(value);
        if (text.length <= 160 && !text.includes('\n')) return `**${title}:** ${text}`;
        return `**${title}**\n\n${text}`;
      }
      return `${heading(level)} ${title}\n\n${renderBlock(value, level + 1)}`;
    })
    .join('\n\n');
}

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

function renderTable(rows: readonly Record<string, unknown>[]): string {
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return [
    line(keys.map((key) => escapeCell(humanise(key)))),
    line(keys.map(() => '---')),
    ...rows.map((row) => line(keys.map((key) => printCell(row[key])))),
  ].join('\n');
}

function printCell(value: unknown): string {
  if (isBlank(value)) return '';
  if (Array.isArray(value)) return value.map(printCell).join('; ');
  if (isRecord(value)) {
    return Object.entries(value)
      .map(([key, inner]) => `${humanise(key)}: ${printCell(inner)}`)
      .join('; ');
  }
  return escapeCell(printScalar(value));
}

const escapeCell = (text: string): string => oneLine(text).replaceAll('|', '\\|');
const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, ' ');
const heading = (level: number): string => '#'.repeat(Math.min(Math.max(level, 1), 6));
const printScalar = (value: unknown): string =>
  typeof value === 'string' ? value.trim() : JSON.stringify(value);

/** `risks_&_mitigation` as `Risks & mitigation`. */
export function humanise(key: string): string {
  const words = key.replaceAll(/[_-]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

import { parse } from 'yaml';
import { isRecord } from '../text/is-record.ts';

/** What a text says about itself. */
export type Description = {
  readonly title?: string;
  readonly author?: string;
  readonly publisher?: string;
  readonly year?: number;
};

/** Longer front matter is not parsed: it is text, not a description. */
const MOST_FRONT_MATTER = 64_000;
const MOST_TITLE = 300;

/** The fields of front matter that a description is made of. */
const DESCRIBING = ['title', 'author', 'authors', 'publisher', 'year', 'date', 'published'];

/**
 * A Markdown text and what its front matter says of it; its first heading is the title where none is
 * given. Front matter that says nothing else is no part of the text: nobody should cite it.
 */
export function describeMarkdown(text: string): { text: string; about: Description } {
  const { fields, body } = splitFrontMatter(text);
  const title = asLine(fields.title) ?? firstHeading(body);
  const author = asNames(fields.author ?? fields.authors);
  const publisher = asLine(fields.publisher);
  const year = asYear(fields.year ?? fields.date ?? fields.published);
  const about = {
    ...(title !== undefined && { title }),
    ...(author !== undefined && { author }),
    ...(publisher !== undefined && { publisher }),
    ...(year !== undefined && { year }),
  };
  const saysMore = Object.keys(fields).some((field) => !DESCRIBING.includes(field));
  return { text: saysMore ? text : body, about };
}

const END_OF_FRONT_MATTER = /\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/;

function splitFrontMatter(text: string): { fields: Record<string, unknown>; body: string } {
  const none = { fields: {}, body: text };
  if (!/^---\r?\n/.test(text)) return none;
  const end = END_OF_FRONT_MATTER.exec(text.slice(0, MOST_FRONT_MATTER));
  if (end === null) return none;
  try {
    const head = text.slice(text.indexOf('\n') + 1, end.index);
    const fields: unknown = parse(head, { logLevel: 'silent' });
    return isRecord(fields) ? { fields, body: text.slice(end.index + end[0].length) } : none;
  } catch {
    // Two rules with prose between them are no front matter; the text is taken as it is.
    return none;
  }
}

/** The first heading of level one, or of any level where there is none; code is no heading. */
function firstHeading(body: string): string | undefined {
  let fence: string | undefined;
  let lower: string | undefined;
  for (const line of body.split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]?.slice(0, 3);
    if (mark !== undefined) fence = fence === undefined ? mark : fence === mark ? undefined : fence;
    if (fence !== undefined || !/^ {0,3}#{1,6}[ \t]/.test(line)) continue;
    const [marks = '', ...words] = line.trim().split(/[ \t]+/);
    const heading = asLine(words.filter((word, at) => !isClosing(word, at, words)).join(' '));
    if (marks === '#' && heading !== undefined) return heading;
    lower ??= heading;
  }
  return lower;
}

const isClosing = (word: string, at: number, words: readonly string[]): boolean =>
  at === words.length - 1 && /^#+$/.test(word);

/** A value as one line of readable length; undefined where nothing is left. */
export function asLine(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const line = String(value)
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return line === '' ? undefined : line.slice(0, MOST_TITLE).toWellFormed();
}

function asNames(value: unknown): string | undefined {
  const names = (Array.isArray(value) ? value : [value]).map((one) =>
    asLine(isRecord(one) ? one.name : one),
  );
  return asLine(names.filter((name) => name !== undefined).join(', '));
}

/** The year in a number, a date or a text that begins with one; undefined for what is no year. */
export function asYear(value: unknown): number | undefined {
  const text = value instanceof Date ? value.toISOString() : (asLine(value) ?? '');
  const year = Number(/(?<!\d)(1[4-9]\d\d|20\d\d)(?!\d)/.exec(text.slice(0, 100))?.[1]);
  return Number.isNaN(year) ? undefined : year;
}

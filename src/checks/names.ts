import { matchOwner, ownerKey } from './owners.ts';
import type { Plan } from './plan.ts';
import type { Problem } from './problem.ts';
import { VALUE_NAMES, VALUE_PATTERNS, type Values } from './values.ts';

/** `[[hours.planned]]`, with what stands before and after it. */
const NAMED =
  /(?:([€$£])\s?)?\[\[\s*([\p{L}\d][\p{L}\d._-]{0,80})\s*\]\](?:([ \u00a0])([\p{L}%€$£]+))?/gu;

/** The names that a text uses. */
export const namesIn = (text: string): string[] =>
  text.includes('[[') ? [...text.matchAll(NAMED)].map((match) => match[2] ?? '') : [];

const MOST_SHOWN = 24;

/** Names that no record gives a value, one problem for each document. */
export function checkNames(plan: Plan, values: Values): Problem[] {
  return plan.input.documents.flatMap(({ title, prose = [] }): Problem[] => {
    const used = new Set(prose.flatMap(({ text }) => namesIn(text)));
    const unknown = [...used].filter((name) => isUnknown(plan, values, name)).toSorted();
    if (unknown.length === 0) return [];
    const names = unknown.map((name) => `[[${name}]]`).join(', ');
    const known = values.list.map(({ name }) => name);
    const all = known.length > 0 ? known : Object.values(VALUE_NAMES).flat();
    const more = all.length > MOST_SHOWN ? ' …' : '';
    return [
      {
        code: 'value_unknown',
        subject: title,
        message: `${title} names ${names}, which no record gives a value. Names that have one: ${all.slice(0, MOST_SHOWN).join(', ')}${more}.`,
        details: { document: title, names: unknown },
      },
    ];
  });
}

/**
 * A name without a value is a fault where no plan could give it one, where the records that should
 * give it one are there, or where the whole plan is. Before that they may still be written.
 */
function isUnknown({ input, items }: Plan, values: Values, name: string): boolean {
  if (values.find(name) !== undefined) return false;
  const [group] =
    Object.entries(VALUE_NAMES).find(([, names]) => names.some((one) => one === name)) ?? [];
  const kind = group ?? (VALUE_PATTERNS.test(name) ? name.split('.')[0] : undefined);
  if (kind === undefined || namesNobody(input, group === undefined ? name : '')) return true;
  const isWhole = items.length > 0 && input.people.length > 0;
  const isThere: Readonly<Record<string, boolean>> = {
    hours: items.length > 0 && input.people.length > 0,
    share: items.length > 0 && input.people.length > 0,
    cost: input.costs.length > 0,
    date: (input.calendar ?? null) !== null && name !== 'date.end',
    price: (input.prices ?? []).length > 0,
  };
  return isWhole || (isThere[kind] ?? true);
}

/** Whether a name is that of somebody's hours, and the plan lists people, but not this one. */
function namesNobody({ people }: Plan['input'], name: string): boolean {
  const [group, person = ''] = name.split('.');
  if (group !== 'hours' || people.length === 0) return false;
  const known = people.map((one) => ownerKey(one.name));
  return !known.includes(matchOwner(person.replaceAll('_', ' '), known));
}

/** A content with values in place of names, in every text; what has no value says so. */
export function printNames<T>(content: T, find: Values['find']): T {
  const print = (value: unknown): unknown => {
    if (typeof value === 'string') return value.includes('[[') ? printText(value, find) : value;
    if (Array.isArray(value)) return value.map(print);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, print(inner)]));
  };
  return print(content) as T;
}

/** A unit that the writer put beside the name is not printed twice. */
const printText = (text: string, find: Values['find']): string =>
  text.replace(NAMED, (_all, sign: string = '', name: string, blank = '', word: string = '') => {
    const value = find(name)?.text ?? `(no value: ${name})`;
    const before = sign !== '' && value.includes(sign) ? '' : sign;
    const last = /(?<![\p{L}%€$£])[\p{L}%€$£]{1,40}$/u.exec(value)?.[0].toLowerCase();
    const isTwice = word !== '' && (last === word.toLowerCase() || value.startsWith(word));
    return `${before}${value}${isTwice ? '' : `${blank}${word}`}`;
  });

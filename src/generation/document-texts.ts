import type { Contract, ContractNode } from '../recipe/types.ts';
import { isRecord } from '../text/is-record.ts';

/** A text of a document, and where it stands. */
export type PlacedText = {
  readonly section: string;
  /** The section, with the record or point in it where it is a list: `findings/F3`, `risks/2`. */
  readonly place: string;
  /** Whether the contract wants its statements cited. */
  readonly cites: boolean;
  readonly text: string;
};

/** The texts of a document in their order, those apart that code fills in. */
export function* findTexts(contract: Contract, content: object): Generator<PlacedText> {
  for (const [section, value] of Object.entries(content)) {
    const node = contract.properties[section] ?? {};
    yield* textsOf(node, value, { section, place: section, cites: false });
  }
}

function* textsOf(
  node: ContractNode,
  value: unknown,
  at: Omit<PlacedText, 'text'>,
): Generator<PlacedText> {
  if (node['x-fill']) return;
  const cites = node['x-cites'] ?? at.cites;
  if (typeof value === 'string') yield { ...at, cites, text: value };
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const isOuter = at.place === at.section;
      const place = isOuter ? namePlace(at.section, item, index) : at.place;
      yield* textsOf(node.items ?? {}, item, { ...at, place, cites });
    }
  } else if (isRecord(value)) {
    for (const [key, field] of Object.entries(value)) {
      yield* textsOf(node.properties?.[key] ?? {}, field, { ...at, cites });
    }
  }
}

/** The place of an item of a section. */
export const namePlace = (section: string, item: unknown, index: number): string =>
  `${section}/${nameRecord(item) ?? index + 1}`;

const nameRecord = (item: unknown): string | undefined =>
  isRecord(item) && typeof item['id'] === 'string' && item['id'] !== '' ? item['id'] : undefined;

/** A value with other texts; the same value where no text is another. */
export function mapTexts<T>(value: T, change: (text: string) => string): T {
  return mapValue(value, change) as T;
}

function mapValue(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) {
    const items = value.map((item) => mapValue(item, change));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  if (!isRecord(value)) return value;
  const fields = Object.entries(value).map(([key, field]) => [key, mapValue(field, change)]);
  return fields.some(([key, field]) => field !== value[String(key)])
    ? Object.fromEntries(fields)
    : value;
}

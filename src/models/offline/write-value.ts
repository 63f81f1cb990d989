import type { JsonSchema } from '../types.ts';
import type { Composer } from './composer.ts';
import type { GuidedDocument } from './guided.ts';
import { type Section, toSection } from './section.ts';
import type { Focus } from './subjects.ts';
import { chooseAmong } from './write-choice.ts';
import { writeList } from './write-list.ts';
import { writeNumber, writeTruth } from './write-number.ts';
import { writeText } from './write-text.ts';

/** What the writing of one document carries along. */
export type Desk = {
  readonly composer: Composer;
  /** The key of the document itself. */
  readonly documentKey: string;
  readonly guided: readonly GuidedDocument[];
  /** Titles of the document's own sections. */
  readonly contents: readonly string[];
  /** Whether the document ranks its inputs. */
  readonly ranks: boolean;
  /** Whether an earlier pass is among the inputs. */
  readonly again: boolean;
  /** Whether the document has prose outside of lists; the notice then goes there. */
  readonly hasProse: boolean;
  /** Says the notice, the first time that it is asked. */
  takeNotice(): string;
  nextId(list: string): string;
  /** The texts that were not told before in this document. */
  tellOnce(texts: readonly string[]): string[];
};

/** One place of the document: what is asked for and what it is about. */
export type Place = {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly section: Section;
  readonly focus: Focus | undefined;
  /** The record that it belongs to, and its neighbours there. */
  readonly siblings: readonly string[];
  /** Half as much as usual will do. */
  readonly short?: boolean;
};

/** Fills any schema. */
function writeValue(desk: Desk, place: Place): unknown {
  const { schema } = place;
  if (schema['const'] !== undefined) return schema['const'];
  if (Array.isArray(schema['enum'])) return chooseAmong(schema['enum'], desk, place);
  const branches = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(branches) && branches.length > 0) {
    return writeValue(desk, { ...place, schema: branches[0] as JsonSchema });
  }
  switch (typeOf(schema)) {
    case 'object':
      return writeRecord(desk, place);
    case 'array':
      return writeList(desk, place, writeValue);
    case 'integer':
    case 'number':
      return writeNumber(desk, place);
    case 'boolean':
      return writeTruth(place);
    case 'null':
      return null;
    default:
      return writeText(desk, place);
  }
}

function typeOf(schema: JsonSchema): string {
  const { type } = schema;
  const types = (Array.isArray(type) ? type : [type]).filter((one) => typeof one === 'string');
  const named = types.find((one) => one !== 'null') ?? types[0];
  if (named !== undefined) return named;
  return schema['properties'] ? 'object' : schema['items'] ? 'array' : 'string';
}

/** The fields in the order of the contract, those that only `required` names included. */
export function writeRecord(desk: Desk, place: Place): Record<string, unknown> {
  const properties = (place.schema['properties'] ?? {}) as Record<string, JsonSchema>;
  const required = (place.schema['required'] ?? []) as readonly string[];
  const names = [...new Set([...Object.keys(properties), ...required])];
  const record: Record<string, unknown> = {};
  for (const name of names) {
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const schema = own ?? { type: 'string' };
    if (isLeftOut(schema, required.includes(name), desk)) continue;
    const section = toSection(name, schema, place.section);
    const inner = { name, schema, section, focus: place.focus, siblings: names };
    record[name] = writeValue(desk, inner);
  }
  if (names.length > 0) return record;
  return writeFree(desk, place);
}

/** Code fills some fields, and some descriptions ask to leave the field out. */
function isLeftOut(schema: JsonSchema, required: boolean, desk: Desk): boolean {
  if (schema['x-fill'] !== undefined) return true;
  const { description } = schema;
  if (required || typeof description !== 'string') return false;
  return /leave it out/i.test(description) || (/second pass on/i.test(description) && !desk.again);
}

/** A record without fields of its own: what was asked for, by the requirement's id. */
function writeFree(desk: Desk, place: Place): Record<string, unknown> {
  if (place.schema['additionalProperties'] === false) return {};
  const requirements = place.focus?.requirements.length
    ? place.focus.requirements
    : desk.composer.material.requirements.slice(0, 4);
  return Object.fromEntries(requirements.map((one) => [one.id, one.statement.text]));
}

import type { JsonSchema } from '../types.ts';
import type { Section } from './section.ts';
import { toSection } from './section.ts';
import { type Focus, findItems, findSubjects, orderRequirements } from './subjects.ts';
import { describeCoverage, lengthen, listReferences, toSlug } from './write-text.ts';
import type { Desk, Place } from './write-value.ts';

type WriteValue = (desk: Desk, place: Place) => unknown;

/** Entries of a list of texts on its own, and within a record. */
const TOP = 5;
const WITHIN = 3;

/** A list: texts by what the section asks for, records by what they are about. */
export function writeList(desk: Desk, place: Place, write: WriteValue): unknown[] {
  const items = (place.schema['items'] ?? { type: 'string' }) as JsonSchema;
  const least = Number(place.schema['minItems'] ?? 0);
  if (isFreeText(items)) return writeTexts(desk, { ...place, schema: items }, least);
  if (place.section.key === 'context_for_documents') {
    const guidance = writeGuidance(desk, place, items, write);
    if (guidance.length >= Math.max(1, least)) return guidance;
  }
  const nested = items['type'] === 'array';
  // A list that may be empty by its name may not be so as an entry of another.
  const section = nested ? { ...place.section, key: `${place.section.key}_group` } : place.section;
  const subjects = findSubjects(
    section,
    desk.composer,
    least,
    () => desk.nextId(section.key),
    place.focus,
  );
  return subjects.map((focus) =>
    write(desk, { ...place, schema: items, section, focus, siblings: [] }),
  );
}

/** A text that may say anything. */
export const isFreeText = (schema: JsonSchema): boolean => {
  const type = Array.isArray(schema['type']) ? schema['type'][0] : schema['type'];
  if (schema['enum'] || schema['const'] !== undefined || schema['anyOf'] || schema['oneOf'])
    return false;
  return type === 'string' || (type === undefined && !schema['properties'] && !schema['items']);
};

function writeTexts(desk: Desk, place: Place, least: number): string[] {
  const { focus, section } = place;
  const kept = focus?.item?.fields.get(section.key);
  const own = kept && kept.length > 0 ? [...kept] : specialTexts(desk, place);
  const count = Math.max(least, focus || place.short ? WITHIN : TOP);
  const texts = own ?? desk.composer.say(section, count, focus?.source);
  while (texts.length < least) texts.push(more(desk, place, texts.length));
  return texts.map((text) => lengthen(text, desk, place));
}

/** Lists whose entries are known, not chosen; undefined for all others. */
function specialTexts(desk: Desk, { section, focus, siblings }: Place): string[] | undefined {
  const { composer, contents, guided } = desk;
  const { key } = section;
  if (/^(?:index|contents|table_of_contents)$/.test(key)) return [...contents];
  if (key === 'document_order') return guided.map((one) => one.key);
  const ids = /^(\w+)_(?:ids?|to_detail)$/.exec(key)?.[1];
  const items = ids === undefined ? [] : findItems(ids, composer).filter((one) => one.id !== '');
  if (items.length > 0) return items.slice(0, 8).map((one) => one.id);
  if (/^(?:completed|in_progress|done)$/.test(key)) return [];
  if (/^(?:deps|depends_on|predecessors)$/.test(key)) return listBefore(focus, siblings);
  if (/require|traces?_to|covers|scope$/.test(key))
    return requirementTexts(desk, focus?.requirements);
  if (/up_next|milestones_to_detail/.test(key)) {
    return orderRequirements(composer)
      .slice(0, TOP)
      .map((one) => `${one.statement.title} (${one.id})`);
  }
  if (/file_tree|files|paths/.test(key)) {
    return composer.material.requirements.map((one) => `${toSlug(one.statement.title)}/`);
  }
  if (section.intent === 'reference') return listReferences(desk);
  if (section.intent === 'omission' && composer.mode === 'critique')
    return describeCoverage(desk).slice(0, 7);
  return undefined;
}

/** By id where the records have one, else by path, else by title. */
function listBefore(focus: Focus | undefined, siblings: readonly string[]): string[] {
  const last = focus?.before.at(-1);
  if (!last) return [];
  if (siblings.includes('id')) return [last.id];
  return [siblings.includes('path') ? toSlug(last.title) : last.title];
}

function requirementTexts(
  desk: Desk,
  own: readonly { readonly id: string; readonly statement: { readonly title: string } }[] = [],
): string[] {
  const list = own.length > 0 ? own : orderRequirements(desk.composer).slice(0, 8);
  return list.map((one) => `${one.id}: ${one.statement.title}`);
}

/** Another entry where the contract asks for more than there is to choose. */
function more(desk: Desk, { section, focus }: Place, at: number): string {
  const [sentence] = desk.composer.say(section, 1, focus?.source);
  if (sentence !== undefined) return sentence;
  const { sources, title } = desk.composer.material;
  return sources[at % Math.max(1, sources.length)]?.statement.text ?? title;
}

/** One entry for each document that the prompt names, with guidance by section where it can. */
function writeGuidance(desk: Desk, place: Place, items: JsonSchema, write: WriteValue): unknown[] {
  const properties = (items['properties'] ?? {}) as Record<string, JsonSchema>;
  return desk.guided.map((document, at) => {
    const [source] = desk.composer.choose(toSection(document.key, {}, place.section), 1);
    const focus = {
      title: document.title || document.key,
      id: document.key,
      source: source ?? desk.composer.material.sources[0]!,
      at,
      of: desk.guided.length,
      before: [],
      requirements: [],
    };
    const names = Object.keys(properties);
    const entry: Record<string, unknown> = {};
    for (const [name, schema] of Object.entries(properties)) {
      const section = toSection(name, schema, place.section);
      const inner: Place = { name, schema, section, focus, siblings: names };
      entry[name] =
        name === 'document_key' || document.sections.length === 0 || !isOpen(schema)
          ? write(desk, inner)
          : guideSections(desk, document.sections, section, write);
    }
    return entry;
  });
}

const isOpen = (schema: JsonSchema): boolean =>
  schema['type'] === 'object' && Object.keys(schema['properties'] ?? {}).length === 0;

function guideSections(
  desk: Desk,
  sections: readonly { readonly key: string; readonly schema: JsonSchema }[],
  parent: Section,
  write: WriteValue,
): Record<string, unknown> {
  desk.composer.startOver();
  return Object.fromEntries(
    sections.map(({ key, schema }) => {
      const section = { ...toSection(key, schema), path: [...parent.path, key] };
      const place = { name: key, schema, section, focus: undefined, siblings: [], short: true };
      return [key, write(desk, place)];
    }),
  );
}

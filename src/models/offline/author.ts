import type { JsonSchema, ModelRequest } from '../types.ts';
import { createComposer } from './composer.ts';
import { findGuided } from './guided.ts';
import { findMode } from './intents.ts';
import { gatherMaterial } from './material.ts';
import { DOCUMENT_NOTICE } from './notice.ts';
import { PERSONAS, type PersonaName } from './personas.ts';
import { type ReadRequest, readRequest } from './read-request.ts';
import { toSection } from './section.ts';
import { isFreeText } from './write-list.ts';
import { isShortName } from './write-text.ts';
import { type Desk, writeRecord } from './write-value.ts';

/** The whole answer to a request; the same request always gives the same text. */
export function writeDocument(request: ModelRequest, persona: PersonaName): string {
  const read = readRequest(request);
  const schema = request.schema?.schema ?? inferSchema(read);
  const desk = openDesk(read, schema, persona);
  const section = { ...toSection('', schema), path: [] };
  const place = { name: '', schema, section, focus: undefined, siblings: [] };
  const content = writeRecord(desk, place);
  return JSON.stringify(placeNotice(content, schema, desk.takeNotice()), null, 2);
}

function openDesk(read: ReadRequest, schema: JsonSchema, persona: PersonaName): Desk {
  const material = gatherMaterial(read);
  const hasDocuments = material.inputs.some((input) => input.block.kind === 'document');
  const names = [read.documentKey, textOf(schema['title']), read.stage, read.prompt.slice(0, 600)];
  const properties = (schema['properties'] ?? {}) as Record<string, JsonSchema>;
  const own = new Set(Object.keys(properties));
  const counts = new Map<string, number>();
  const told = new Set<string>();
  let noticed = false;
  return {
    composer: createComposer(material, PERSONAS[persona], findMode(names, hasDocuments)),
    documentKey: read.documentKey,
    guided: own.has('context_for_documents') ? findGuided(read.prompt, ownKeys(schema)) : [],
    contents: Object.entries(properties).map(([key, one]) => textOf(one['title']) || titleOf(key)),
    ranks: ownKeys(schema).has('rank'),
    again: /^#+ .*\bpass before\b/im.test(read.prompt),
    hasProse: hasProse(schema),
    takeNotice() {
      if (noticed) return '';
      noticed = true;
      return DOCUMENT_NOTICE;
    },
    tellOnce(texts) {
      const fresh = texts.filter((text) => !told.has(text));
      for (const text of fresh) told.add(text);
      return fresh;
    },
    nextId(list) {
      const letter = (/[a-z]/.exec(list)?.[0] ?? 'i').toUpperCase();
      const count = (counts.get(letter) ?? 0) + 1;
      counts.set(letter, count);
      return `${letter}${count}`;
    },
  };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const titleOf = (key: string): string => {
  const words = key.replaceAll(/[_-]+/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** Whether any text stands outside of lists. */
function hasProse(schema: JsonSchema): boolean {
  const properties = (schema['properties'] ?? {}) as Record<string, JsonSchema>;
  return Object.entries(properties).some(([key, one]) =>
    one['properties'] ? hasProse(one) : isFreeText(one) && !isShortName(key) && !one['x-fill'],
  );
}

/** Every key of a schema, however deep. */
function ownKeys(schema: JsonSchema, found = new Set<string>()): Set<string> {
  for (const [key, child] of Object.entries(
    (schema['properties'] ?? {}) as Record<string, JsonSchema>,
  )) {
    found.add(key);
    ownKeys(child, found);
  }
  if (schema['items']) ownKeys(schema['items'] as JsonSchema, found);
  return found;
}

/** Without a schema, the keys that the prompt lists become sections. */
function inferSchema({ prompt }: ReadRequest): JsonSchema {
  const keys = [...prompt.matchAll(/^[-*]\s+`([^`\s]+)`/gm)].map((match) => match[1]!);
  const names = keys.length > 0 ? keys : ['summary', 'points'];
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  };
}

/** Where no prose took the notice, the first list of free texts does, else the first free text. */
function placeNotice(
  content: Record<string, unknown>,
  schema: JsonSchema,
  notice: string,
): Record<string, unknown> {
  if (notice === '') return content;
  const properties = (schema['properties'] ?? {}) as Record<string, JsonSchema>;
  for (const [key, value] of Object.entries(content)) {
    const own = properties[key] ?? {};
    const items = (own['items'] ?? {}) as JsonSchema;
    if (Array.isArray(value) && typeof value[0] === 'string' && isFreeText(items)) {
      const [first, ...rest] = value as string[];
      const joined = Number(items['minLength'] ?? 0) > notice.length;
      const entries = joined ? [`${notice} ${first}`, ...rest] : [notice, first, ...rest];
      return { ...content, [key]: entries };
    }
  }
  for (const [key, value] of Object.entries(content)) {
    if (typeof value !== 'string' || !isFreeText(properties[key] ?? {})) continue;
    return { ...content, [key]: `${value}. ${notice}` };
  }
  return content;
}

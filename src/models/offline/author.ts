import { nameAfter } from '../../text/whole-sentence.ts';
import type { ModelRequest } from '../types.ts';
import { gatherMaterial, type Material } from './material.ts';
import { noticeOf } from './notice.ts';
import type { PersonaName } from './personas.ts';

/** The keywords that contracts are made of. */
type Node = {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly items?: Node;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
};

/** What the writing of one document carries along. */
type Desk = {
  readonly material: Material;
  /** How many ids of each letter were given out. */
  readonly counts: Map<string, number>;
  /** The notice, until it is said: in the first section of prose, else in the first sentence. */
  readonly notice: string[];
  readonly noticeKey: string | undefined;
  /** How many sources were quoted. */
  quoted: number;
  /** Entries that lists may still have: lists within lists multiply. */
  left: number;
};

/** One place of the document. */
type Place = {
  /** Keys from the outermost section to this one. */
  readonly path: readonly string[];
  /** The next sentence for a section of this place. */
  readonly say: (key: string) => string;
  /** Position of the record in its list, from 0. */
  readonly at: number;
  /** What fields of the record must say: its id, the label or key of what it is about. */
  readonly fixed: Readonly<Record<string, string | undefined>>;
  /** The id of the record before. */
  readonly before?: string | undefined;
};

/** Entries of a list where the contract asks for no more; within records one will do. */
const ENTRIES = 2;
/** Entries of all lists of one document; a recipe may not demand more, and a store might. */
const MOST_ENTRIES = 20_000;
const LONGEST_TEXT = 20_000;
const SHORT_REQUEST = 8;
const NAME_WORDS = 8;
const SHORT = { owner: 'The requester', who: 'The requester', unit: 'units', currency: 'euros' };
/** How the author comes back to a sentence, and how it asks about one. */
const RETURNS = ['', 'This counts here too', 'It matters here as well', 'The same point holds'];
const COUNTS = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const QUESTIONS = ['Is this right', 'Who can confirm this', 'What follows from this'];

/** The whole answer to a request; the same request always gives the same text. */
export function writeDocument(request: ModelRequest, persona: PersonaName): string {
  const material = gatherMaterial(request, persona);
  const schema = (request.schema?.schema as Node | undefined) ?? { required: ['summary'] };
  const place = { path: [], say: takeFrom(material.sentences), at: 0, fixed: {} };
  const fields = Object.entries(schema.properties ?? {});
  const noticeKey = fields.find(([key, node]) => isProse(key, node))?.[0];
  const notice = [noticeOf(persona, material.labels)];
  const desk = { material, counts: new Map(), notice, noticeKey, quoted: 0, left: MOST_ENTRIES };
  return JSON.stringify(writeRecord(desk, schema, place), null, 2);
}

/** One sentence after the other; from the second round on in other words, so that none recurs. */
function takeFrom(sentences: readonly string[], first = 0): Place['say'] {
  let at = first;
  return (key) => {
    const round = Math.floor(at / sentences.length);
    const sentence = sentences[at++ % sentences.length]!;
    if (isName(key)) return nameAfter(sentence, NAME_WORDS);
    const asks = /questions?$/.test(key);
    if (round === 0 && (!asks || sentence.endsWith('?'))) return sentence;
    // A figure beside a citation would be taken for one of the source.
    const places = sentence.includes('[S') ? (COUNTS[round] ?? 'many') : round + 1;
    const way = (asks ? QUESTIONS : RETURNS)[round] ?? `This holds in ${places} places`;
    return `${way}: ${asks ? sentence.replace(/[.!?。]$/, '?') : sentence}`;
  };
}

function writeValue(desk: Desk, node: Node, place: Place): unknown {
  if (node.enum) return node.enum[0];
  switch (typeOf(node)) {
    case 'object':
      return writeRecord(desk, node, place);
    case 'array':
      return writeList(desk, node, place);
    case 'integer':
    case 'number':
      return writeNumber(node, place);
    case 'boolean':
      return place.at === 0;
    case 'null':
      return null;
    default:
      return writeText(desk, node, place);
  }
}

function typeOf({ type, properties, items }: Node): string {
  const types = typeof type === 'string' ? [type] : (type ?? []);
  const named = types.find((one) => one !== 'null') ?? types[0];
  return named ?? (properties ? 'object' : items ? 'array' : 'string');
}

const isText = (node: Node): boolean => typeOf(node) === 'string' && !node.enum;
const isName = (key: string): boolean => /(?:^|_)(?:title|name)$/.test(key);
const wantsIds = ({ description = '' }: Node): boolean =>
  /^(?:the |its )?ids?\b/i.test(description);

const isProse = (key: string, node: Node): boolean =>
  isText(node) && !isName(key) && !wantsIds(node) && key !== 'id';

function findLabelKey({ properties = {} }: Node): string | undefined {
  const texts = Object.keys(properties).filter((key) => isText(properties[key]!));
  const told = texts.find((key) => /\blabel\b/i.test(properties[key]!.description ?? ''));
  return told ?? (Object.hasOwn(properties, 'rank') ? texts[0] : undefined);
}

/** A record that quotes a source. */
const isEvidence = ({ properties = {} }: Node): boolean =>
  Object.hasOwn(properties, 'source') && Object.hasOwn(properties, 'excerpt');

function writeRecord(desk: Desk, node: Node, place: Place): Record<string, unknown> {
  const { properties = {}, required = [] } = node;
  const { evidence } = desk.material;
  if (isEvidence(node) && evidence.length > 0) {
    return { ...evidence[desk.quoted++ % evidence.length] };
  }
  const names = new Set([...Object.keys(properties), ...required]);
  if (names.size === 0) return { note: place.say('note') };
  const write = (key: string): unknown => {
    const own = Object.hasOwn(properties, key) ? properties[key]! : {};
    return writeValue(desk, own, { ...place, path: [...place.path, key] });
  };
  return Object.fromEntries([...names].map((key) => [key, write(key)]));
}

function writeList(desk: Desk, node: Node, place: Place): unknown[] {
  const { items = {}, minItems: least = 0 } = node;
  const usual = Math.max(least, place.path.length > 1 ? 1 : ENTRIES);
  if (isText(items)) {
    const ids = wantsIds(node) ? findIds(desk, node, place) : undefined;
    if (ids && ids.length >= least) return ids;
    return Array.from({ length: take(desk, usual) }, () => writeProse(desk, items, place, 1));
  }
  const { keys, rivals, request, evidence } = desk.material;
  const { properties = {} } = items;
  // Where no source was found there is nothing to say that rests on one.
  const needsEvidence = Object.values(properties).some(({ items: own }) => own && isEvidence(own));
  if (needsEvidence && evidence.length === 0 && least === 0) return [];
  const labelKey = findLabelKey(items);
  const about = labelKey === undefined ? [] : rivals;
  const planned = Object.hasOwn(properties, 'document_key') ? keys : [];
  const count = take(desk, Math.max(least, about.length || planned.length || usual));
  return Array.from({ length: count }, (_, at) => {
    const rival = about[at];
    const [letter, number] = giveId(desk, items, place) ?? ['', at + 1];
    const idOf = (one: number) => (letter !== '' && one > 0 ? letter + one : undefined);
    // Records with an id or a name are made of the request alone: D1 says the same everywhere.
    const isNamed = letter !== '' || Object.keys(properties).some(isName);
    const own = isNamed ? takeFrom(request, number - 1) : place.say;
    const say = rival?.sentences.length ? takeFrom(rival.sentences) : own;
    const label = labelKey === undefined ? {} : { [labelKey]: rival?.label };
    const fixed = { id: idOf(number), document_key: planned[at], ...label };
    return writeValue(desk, items, { ...place, at, say, fixed, before: idOf(number - 1) });
  });
}

/** So many entries of those that are wanted; one where none are left. */
function take(desk: Desk, wanted: number): number {
  const count = Math.max(1, Math.min(wanted, desk.left));
  desk.left = Math.max(0, desk.left - count);
  return count;
}

/** The letter of a list's ids, which its contract or its own name gives, and the next number. */
function giveId({ counts }: Desk, items: Node, { path }: Place): readonly [string, number] | null {
  const node = items.properties?.['id'];
  if (!node || !isText(node)) return null;
  const letter = /\b([A-Z])1\b/.exec(node.description ?? '')?.[1] ?? letterOf(path.at(-1)!);
  const number = (counts.get(letter) ?? 0) + 1;
  counts.set(letter, number);
  return [letter, number];
}

const letterOf = (name: string): string => (/[a-z]/i.exec(name)?.[0] ?? 'i').toUpperCase();

/** Ids in the documents by the letter of what the place asks for, else that of the record before. */
function findIds({ material }: Desk, { description = '' }: Node, { path, fixed, before }: Place) {
  const named = /\bids? of (?:the )?(\w+)/i.exec(description)?.[1];
  const letter = letterOf(named ?? path.filter((key) => key !== 'id').at(-1) ?? '');
  const known = fixed['id']?.startsWith(letter) ? [] : material.idsOf(letter);
  return known.length > 0 || before === undefined ? known : [before];
}

function writeNumber({ type, minimum, maximum }: Node, { path, at }: Place): number {
  const low = minimum ?? Number.NEGATIVE_INFINITY;
  const high = maximum ?? Number.POSITIVE_INFINITY;
  const usual = Number.isFinite(high - low) ? (low + high) / 2 : 1;
  const value = Math.min(high, Math.max(low, path.at(-1) === 'rank' ? at + 1 : usual));
  return type === 'number' ? value : Math.floor(value);
}

function writeText(desk: Desk, node: Node, place: Place): string {
  const { path, fixed, say } = place;
  const key = path.at(-1) ?? '';
  const known: Place['fixed'] = { ...SHORT, ...fixed };
  const given = Object.hasOwn(known, key) ? known[key] : undefined;
  const asksIds = key === 'id' || wantsIds(node);
  const short = given ?? (asksIds ? findIds(desk, node, place).join(', ') : '');
  if (short !== '') return lengthen([short], node, place);
  if (isName(key)) return lengthen([say(key)], node, place);
  const isLong = path.length === 1 && desk.material.sentences.length >= SHORT_REQUEST;
  return writeProse(desk, node, place, isLong ? 2 : 1);
}

const sayAt = ({ say, path }: Place): string => say(path.at(-1) ?? '');

function writeProse(desk: Desk, node: Node, place: Place, count: number): string {
  const isFirst = desk.noticeKey === undefined || place.path.join() === desk.noticeKey;
  const notice = isFirst ? desk.notice.splice(0) : [];
  const said = Array.from({ length: count }, () => sayAt(place));
  return lengthen([...notice, ...said], node, place);
}

/** Goes on until the text is as long as the contract asks for, counted in characters. */
function lengthen(parts: readonly string[], { minLength = 0 }: Node, place: Place): string {
  const least = Math.min(minLength, LONGEST_TEXT);
  let text = parts.join(' ');
  while (Array.from(text).length < least) text = `${text} ${sayAt(place)}`;
  return text;
}

import type { Composer } from './composer.ts';
import { findDifference } from './difference.ts';
import { nameInput, quote } from './phrase.ts';
import { toKey } from './piece-reader.ts';
import { countCoverage } from './requirements.ts';
import { rankRivals } from './rivals.ts';
import { type Focus, findItems } from './subjects.ts';
import { isScored, measureFor } from './write-number.ts';
import type { Desk, Place } from './write-value.ts';

/** Sentences of a section on its own, and of a field within a record. */
const TOP = 4;
const WITHIN = 2;

/** A text: a name or an id where the place asks for one, else sentences. */
export function writeText(desk: Desk, place: Place): string {
  const short = writeShort(desk, place);
  const text = short ?? writeProse(desk, place);
  return lengthen(text, desk, place);
}

const IDENTITY = /(?:^|_)(?:id|identifier|ref|code)$/;
const NAME = /(?:^|_)(?:title|name|label|heading)$/;

/** Whether a key asks for a name, an id or a mark instead of sentences. */
export const isShortName = (name: string): boolean => {
  const key = toKey(name);
  return (
    IDENTITY.test(key) || NAME.test(key) || /status$|path$|phase|^type$/.test(key) || key in MARKS
  );
};

function writeShort(desk: Desk, place: Place): string | undefined {
  const { focus, section } = place;
  const { key } = section;
  const kept = focus?.item?.fields.get(key);
  if (kept && kept.length > 0) return kept.join(' ');
  if (key === 'document_key') return focus?.id ?? desk.documentKey;
  if (focus?.rival && /option|candidate|^id$/.test(key)) return focus.rival.label;
  if (IDENTITY.test(key)) return focus?.id ?? (carriedIds(desk, section.path) || desk.nextId(key));
  if (/^dimension|^criterion|^aspect/.test(key) && focus) return focus.dimension ?? focus.title;
  if (NAME.test(key)) return focus?.title ?? desk.composer.material.title;
  if (key.endsWith('status')) return '[ ]';
  if (MARKS[key]) return MARKS[key];
  if (key === 'current_document' && desk.guided[0]) return desk.guided[0].key;
  if (!focus && /^(?:phase|milestone)s?$/.test(key)) return carriedTitles(desk, key);
  if (/(?:^|_)(?:path|file|folder|directory)$/.test(key)) return toSlug(focus?.title ?? key);
  return undefined;
}

const MARKS: Readonly<Record<string, string>> = {
  unstarted: '[ ]',
  not_started: '[ ]',
  in_progress: '[~]',
  completed: '[x]',
  unstarted_status: '[ ]',
  in_progress_status: '[~]',
  completed_status: '[x]',
};

/** `milestone_reference.id` asks for the ids of the milestones that the inputs hold. */
function carriedIds({ composer }: Desk, path: readonly string[]): string {
  const list = path.at(-2)?.split('_')[0] ?? '';
  const items = list === '' ? [] : findItems(list, composer);
  return items
    .flatMap((one) => (one.id === '' ? [] : [one.id]))
    .slice(0, 8)
    .join(', ');
}

function carriedTitles({ composer }: Desk, key: string): string | undefined {
  const items = findItems(key, composer);
  return items.length > 0
    ? `${items
        .slice(0, 4)
        .map((one) => one.title)
        .join('; ')}.`
    : undefined;
}

/** A name for a file or folder, of the title's first words. */
export const toSlug = (title: string): string =>
  title
    .toLowerCase()
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => word !== '')
    .slice(0, 5)
    .join('-') || 'part';

function writeProse(desk: Desk, place: Place): string {
  const notice = place.focus && desk.hasProse ? '' : desk.takeNotice();
  const body =
    writeReason(desk, place) ?? writeReferences(desk, place) ?? writeSentences(desk, place);
  return [notice, body].filter((part) => part !== '').join(' ');
}

const REASON = /rationale|reason|why|justif|explan|basis|comment/;

/** Beside a score or a rank, how it came about. */
function writeReason(desk: Desk, { section, focus, siblings, ...rest }: Place): string | undefined {
  const rival = focus?.rival && !focus.dimension ? focus : undefined;
  if (rival && section.key.startsWith('when')) return tellApart(desk, rival);
  if (!REASON.test(section.key)) return undefined;
  if (focus?.rival && !focus.dimension) {
    return `Score ${focus.rival.score} of 10. ${focus.rival.reason}`;
  }
  if (!isScored(siblings)) return undefined;
  return measureFor(desk, { section, focus, siblings, ...rest }).reason;
}

/** What a rival says and the others do not: whoever wants that should choose it. */
function tellApart({ composer }: Desk, { rival, title, at }: Focus): string {
  const alone = rival?.input.sources.filter((source) => source.labels.length === 1) ?? [];
  const [best] = alone.toSorted(
    (a, b) => composer.worth(b.statement) - composer.worth(a.statement) || a.at - b.at,
  );
  const { statement } = best ?? rival?.input.sources[0] ?? {};
  const said = statement ? `, since it alone says ${quote(statement.core, statement.cites)}` : '';
  if (at > 0 && said !== '') return `Choose ${nameInput(title)} where this decides${said}.`;
  return `Choose ${nameInput(title)} where ${composer.persona.concern} count most${said}.`;
}

function writeReferences(desk: Desk, { section }: Place): string | undefined {
  if (section.intent !== 'reference') return undefined;
  return `${listReferences(desk).join('; ')}.`;
}

/** What the document rests on, by label and title. */
export function listReferences(desk: Desk): string[] {
  const { material } = desk.composer;
  const given = material.inputs.filter(
    ({ block, sources }) => sources.length > 0 && !/seed|header/.test(block.kind),
  );
  return given.slice(0, 12).map(({ block, sources }) => {
    if (block.kind === 'request') return `The request: ${material.title}`;
    const title = block.title && block.title !== block.label ? ` (${block.title})` : '';
    return `${nameInput(block.label)}${title}, ${sources.length} statements`;
  });
}

function writeSentences(desk: Desk, place: Place): string {
  const { composer } = desk;
  const { section, focus } = place;
  const count = focus || place.short ? WITHIN : TOP;
  const sentences = composer.say(section, count, focus?.source);
  const paragraphs = [sentences.join(' ')];
  if (!focus && !place.short) paragraphs.push(...addRemarks(desk, place));
  const text = paragraphs.filter((part) => part !== '').join('\n\n');
  return text === '' ? fallback(desk, place) : text;
}

/** What a critique leaves uncovered and where merged inputs differ. */
function addRemarks(desk: Desk, { section }: Place): string[] {
  const { composer } = desk;
  if (desk.ranks && section.intent === 'summary') return desk.tellOnce(describeRanking(composer));
  if (composer.mode === 'critique' && /omission|agreement/.test(section.intent)) {
    return desk.tellOnce(describeCoverage(desk).slice(0, 2));
  }
  if (composer.mode !== 'merge') return [];
  const same = composer.material.sources.filter(
    (one) => one.kind === 'document' && one.sections.has(section.key),
  );
  const difference = findDifference(same.slice(0, 40));
  return difference === undefined ? [] : desk.tellOnce([difference]);
}

/** Which of the rivals comes first, and by how much. */
function describeRanking(composer: Composer): string[] {
  const [first, ...others] = rankRivals(composer);
  if (!first || others.length === 0) return [];
  const rest = others.map((one) => `${nameInput(one.label)} with ${one.score}`).join(', ');
  return [`${nameInput(first.label)} comes first with ${first.score} of 10, before ${rest}.`];
}

/** For each document what it does not take up of the request. */
export function describeCoverage({ composer }: Desk): string[] {
  const { requirements, inputs } = composer.material;
  const documents = inputs.filter((input) => input.block.kind === 'document');
  const statements = documents.flatMap((input) => input.sources.map((one) => one.statement));
  const who = documents.length === 1 ? nameInput(documents[0]!.block.label) : 'the proposal';
  const counts = countCoverage(requirements, statements);
  const missing = counts.filter((one) => one.count === 0);
  const all = requirements.length;
  const met = all - missing.length;
  const first = `Of the ${all} requirements of the request, ${who} takes up ${met}.`;
  if (missing.length > 0) {
    return [
      first,
      ...missing.map(({ one }) => `Not taken up: ${one.id}, “${one.statement.core}”.`),
    ];
  }
  const thin = counts.toSorted((a, b) => a.count - b.count).slice(0, 3);
  return [
    first,
    ...thin.map(
      ({ one, count }) =>
        `Thin: ${one.id}, “${one.statement.core}”, ` +
        `to which ${count} of ${statements.length} statements speak.`,
    ),
  ];
}

/** Everything was said already: the subject is named once more, with where it comes from. */
function fallback({ composer }: Desk, { section, focus }: Place): string {
  const source = focus?.source ?? composer.choose(section, 1)[0];
  return source?.statement.text ?? composer.material.title;
}

/** Schemas count characters, not the units that strings are made of. */
const lengthOf = (text: string): number => Array.from(text).length;

/** Goes on with the material until the text is as long as the contract asks for. */
export function lengthen(text: string, desk: Desk, place: Place): string {
  const least = Number(place.schema['minLength'] ?? 0);
  let long = text;
  const { sources, title } = desk.composer.material;
  for (let at = 0; lengthOf(long) < least; at++) {
    const more = sources[at % Math.max(1, sources.length)]?.statement.text ?? title;
    long = `${long} ${more === '' ? '—' : more}`;
  }
  return long;
}

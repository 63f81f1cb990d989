import { findDifference } from './composer.ts';
import { nameInput } from './phrase.ts';
import { findUncovered } from './requirements.ts';
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

function writeShort(desk: Desk, place: Place): string | undefined {
  const { focus, section } = place;
  const { key } = section;
  const kept = focus?.item?.fields.get(key);
  if (kept && kept.length > 0) return kept.join(' ');
  if (key === 'document_key') return focus?.id ?? '';
  if (focus?.rival && /option|candidate|^id$/.test(key)) return focus.rival.label;
  if (IDENTITY.test(key)) return focus?.id ?? desk.nextId(key);
  if (/^dimension|^criterion|^aspect/.test(key) && focus) return focus.dimension ?? focus.title;
  if (NAME.test(key)) return focus?.title ?? desk.composer.material.title;
  if (/status$/.test(key)) return /\[ \]/.test(section.description) ? '[ ]' : 'not started';
  if (/(?:^|_)(?:path|file|folder|directory)$/.test(key)) return toSlug(focus?.title ?? key);
  return undefined;
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
  const notice = desk.takeNotice();
  const body =
    writeReason(desk, place) ?? writeReferences(desk, place) ?? writeSentences(desk, place);
  return [notice, body].filter((part) => part !== '').join(' ');
}

const REASON = /rationale|reason|why|justif|explan|basis|comment/;

/** Beside a score or a rank, how it came about. */
function writeReason(desk: Desk, { section, focus, siblings, ...rest }: Place): string | undefined {
  if (!REASON.test(section.key)) return undefined;
  if (focus?.rival && !focus.dimension) {
    return `Score ${focus.rival.score} of 10. ${focus.rival.reason}`;
  }
  if (!isScored(siblings)) return undefined;
  return measureFor(desk, { section, focus, siblings, ...rest }).reason;
}

function writeReferences(desk: Desk, { section }: Place): string | undefined {
  if (section.intent !== 'reference') return undefined;
  return `${listReferences(desk).join('; ')}.`;
}

/** What the document rests on, by label and title. */
export function listReferences(desk: Desk): string[] {
  const { material } = desk.composer;
  return material.inputs.slice(0, 12).map(({ block, sources }) => {
    if (block.kind === 'request') return `The request: ${material.title}`;
    const title = block.title && block.title !== block.label ? ` (${block.title})` : '';
    return `${nameInput(block.label)}${title}, ${sources.length} statements`;
  });
}

function writeSentences(desk: Desk, place: Place): string {
  const { composer } = desk;
  const { section, focus } = place;
  const count = focus ? WITHIN : TOP;
  const sentences = composer.say(section, count, focus?.source);
  const paragraphs = [sentences.join(' ')];
  if (!focus) paragraphs.push(...addRemarks(desk, place));
  const text = paragraphs.filter((part) => part !== '').join('\n\n');
  return text === '' ? fallback(desk, place) : text;
}

/** What a critique leaves uncovered and where merged inputs differ. */
function addRemarks(desk: Desk, { section }: Place): string[] {
  const { composer } = desk;
  if (composer.mode === 'critique' && /omission|agreement|summary/.test(section.intent)) {
    return describeCoverage(desk).slice(0, 2);
  }
  if (composer.mode !== 'merge') return [];
  const same = composer.material.sources.filter(
    (one) => one.kind === 'document' && one.statement.sections.includes(section.key),
  );
  const difference = findDifference(same.slice(0, 40));
  return difference === undefined ? [] : [difference];
}

/** For each document what it does not take up of the request. */
export function describeCoverage({ composer }: Desk): string[] {
  const { requirements, inputs } = composer.material;
  const documents = inputs.filter((input) => input.block.kind === 'document');
  const statements = documents.flatMap((input) => input.sources.map((one) => one.statement));
  const who = documents.length === 1 ? nameInput(documents[0]!.block.label) : 'the proposal';
  const missing = findUncovered(requirements, statements);
  const all = requirements.length;
  const first = `Of the ${all} requirements of the request, ${who} takes up ${all - missing.length}.`;
  return [first, ...missing.map((one) => `Not taken up: ${one.id}, “${one.statement.core}”.`)];
}

/** Everything was said already: the subject is named once more, with where it comes from. */
function fallback({ composer }: Desk, { section, focus }: Place): string {
  const source = focus?.source ?? composer.choose(section, 1)[0];
  return source?.statement.text ?? composer.material.title;
}

function lengthen(text: string, desk: Desk, place: Place): string {
  const least = Number(place.schema['minLength'] ?? 0);
  let long = text;
  const { sources, title } = desk.composer.material;
  for (let at = 0; long.length < least; at++) {
    const more = sources[at % Math.max(1, sources.length)]?.statement.text ?? title;
    long = `${long} ${more === '' ? '—' : more}`;
  }
  return long;
}

import type { Composer } from './composer.ts';
import { newSource, type Source } from './material.ts';
import type { DocumentItem } from './piece-reader.ts';
import type { Requirement } from './requirements.ts';
import { type Rival, rankRivals } from './rivals.ts';
import type { Section } from './section.ts';
import { makeStatement, type Statement } from './statement.ts';
import { overlap } from './term-index.ts';

/** What one record of a list is about. */
export type Focus = {
  readonly title: string;
  readonly id: string;
  readonly source: Source;
  /** Position in its list, from 0. */
  readonly at: number;
  /** How many records its list has. */
  readonly of: number;
  /** The records before it in its list. */
  readonly before: readonly { readonly id: string; readonly title: string }[];
  readonly requirements: readonly Requirement[];
  /** The record of an input that it carries on. */
  readonly item?: DocumentItem;
  readonly rival?: Rival;
  /** What a score of it is about. */
  readonly dimension?: string;
};

type Found = Omit<Focus, 'id' | 'at' | 'of' | 'before'> & { readonly id?: string };

const USUAL = 4;
const MOST = 8;

/** What the records of a list are about, at least `least` of them. */
export function findSubjects(
  section: Section,
  composer: Composer,
  least: number,
  nextId: () => string,
  parent?: Focus,
): Focus[] {
  const found = pickKind(section, composer, Math.max(least, USUAL), parent);
  // A ballot ranks every rival, however many there are.
  const most = found.some((one) => one.rival && !one.dimension) ? found.length : MOST;
  const enough = found.slice(0, Math.max(least, most));
  while (enough.length < least) enough.push(fromSource(composer, pad(composer, enough.length)));
  const before: { id: string; title: string }[] = [];
  return enough.map((one, at) => {
    const id = one.id || nextId();
    const focus = { ...one, id, at, of: enough.length, before: [...before] };
    before.push({ id, title: one.title });
    return focus;
  });
}

const RANKED = /rank|option|candidate|matrix|comparison|rivals?/;
const SCORED = /score|dimension|rating/;
const PLANNED = /milestone|phase|node|step|task|work|item|checklist|todo|stage|sprint/;
const ASKED = /feature|requirement|function|capabilit|user_stor/;
const NAMED = /component|service|api|subsystem|technolog|tool|system|schema|interface/;

function pickKind(
  section: Section,
  composer: Composer,
  count: number,
  parent: Focus | undefined,
): Found[] {
  const { key } = section;
  if (SCORED.test(key)) return dimensions(section, composer, parent);
  if (RANKED.test(key)) {
    const rivals = rankRivals(composer);
    if (rivals.length > 0) return rivals.map((rival) => fromRival(composer, rival));
  }
  const carried = parent?.item ? [] : carryItems(key, composer);
  if (carried.length > 0 && !parent) return carried;
  if (PLANNED.test(key)) return planned(composer, count, parent, carried);
  if (ASKED.test(key) && !parent) return asked(composer, count + 2);
  if (NAMED.test(key)) return named(composer, count);
  if (carried.length > 0) return carried.slice(0, count);
  return composer
    .choose(section, count, parent?.source)
    .map((source) => fromSource(composer, source));
}

const fromSource = (composer: Composer, source: Source): Found => ({
  title: source.statement.title,
  source,
  requirements: composer.material.requirements.filter((one) =>
    composer.idsOf(source).includes(one.id),
  ),
});

/** More records than there are subjects: the brief is gone through again. */
function pad({ material }: Composer, at: number): Source {
  return (
    material.sources[at % Math.max(1, material.sources.length)] ??
    asSource(makeStatement(material.title))
  );
}

/** A statement beside the material; it has no position there. */
const asSource = (statement: Statement): Source => newSource(statement, 'request', -1);

function fromRival(composer: Composer, rival: Rival): Found {
  const [best] = rival.input.sources.toSorted(
    (a, b) => composer.worth(b.statement) - composer.worth(a.statement) || a.at - b.at,
  );
  const source = best ?? asSource(makeStatement(rival.label));
  return { ...fromSource(composer, source), title: rival.label, id: rival.label, rival };
}

const DIMENSIONS = [
  'feasibility',
  'cost',
  'security',
  'reliability',
  'time to market',
  'fit to the request',
];

/** The dimensions that the description lists, else the usual ones. */
function dimensions(section: Section, composer: Composer, parent: Focus | undefined): Found[] {
  const listed = section.description.match(/[a-z][a-z_ -]{2,30}(?=,| and |\.|$)/gi) ?? [];
  const names =
    listed.length > 2 ? listed.map((name) => name.replace(/^and /, '').trim()) : DIMENSIONS;
  return names.slice(0, MOST).map((name) => ({
    ...fromSource(composer, parent?.source ?? composer.choose(section, 1)[0] ?? pad(composer, 0)),
    title: name.replaceAll('_', ' '),
    dimension: name.replaceAll('_', ' '),
    ...(parent?.rival ? { rival: parent.rival } : {}),
  }));
}

/** Records of the inputs' lists of the same name; those that two inputs share count once. */
function carryItems(key: string, composer: Composer): Found[] {
  const found: Found[] = [];
  for (const { block, items } of composer.material.inputs) {
    for (const item of items) {
      if (block.kind === 'request' || block.kind === 'sources' || !isOf(item, key)) continue;
      const words = [item.title, ...(item.fields.get('objective') ?? [])].join(': ');
      const statement = makeStatement(words);
      const same = (one: Found): boolean =>
        one.title === item.title || overlap(one.source.statement.termSet, statement.termSet) > 0.8;
      if (found.some(same)) continue;
      const source = { ...asSource(statement), kind: block.kind, labels: [block.label] };
      const { requirements } = fromSource(composer, source);
      const named = namedIn(item, composer.material.requirements);
      const own = named.length > 0 ? named : requirements;
      found.push({ source, requirements: own, title: item.title, id: item.id, item });
    }
  }
  return found;
}

/** A list holds the records of its name, and those with ids that begin like it: M1, milestones. */
const isOf = ({ list, id }: DocumentItem, key: string): boolean =>
  singular(list) === singular(key) ||
  (/^[A-Z]\d+$/.test(id) && id.charAt(0).toLowerCase() === key.charAt(0));

function namedIn(item: DocumentItem, requirements: readonly Requirement[]): Requirement[] {
  const text = [...item.fields].filter(([name]) => /requirement|covers|trace/.test(name)).join(' ');
  const ids = new Set(text.match(/\b[A-Z]{1,4}-?\d+(?:\.\d+)*\b/g));
  return requirements.filter((one) => ids.has(one.id));
}

/** Records that the inputs hold under a name: their ids and titles. */
export const findItems = (
  key: string,
  composer: Composer,
): { readonly id: string; readonly title: string }[] =>
  carryItems(key, composer).map(({ id = '', title }) => ({ id, title }));

const singular = (key: string): string => key.replace(/ies$/, 'y').replace(/s$/, '');

/** Requirements shared out among records, those of most worth to the persona first. */
function planned(
  composer: Composer,
  count: number,
  parent: Focus | undefined,
  carried: readonly Found[],
): Found[] {
  const within = parent?.requirements ?? [];
  const mine = carried.filter((one) =>
    one.requirements.some((own) => within.some((all) => all.id === own.id)),
  );
  if (mine.length > 0) return mine;
  const pool = within.length > 0 ? within : orderRequirements(composer);
  const groups = shareOut(pool, count);
  return groups.map((group) => ({
    title: group[0]!.statement.title,
    source: asSource(group[0]!.statement),
    requirements: group,
  }));
}

/** Tasks in even groups; what is for later comes last, and limits go with the last group. */
function shareOut(pool: readonly Requirement[], count: number): Requirement[][] {
  const tasks = pool.filter((one) => !/limit|later/.test(one.statement.role));
  const work = [...tasks, ...pool.filter((one) => one.statement.role === 'later')];
  const limits = pool.filter((one) => one.statement.role === 'limit');
  if (work.length === 0) return limits.map((one) => [one]);
  const size = Math.max(1, Math.ceil(work.length / count));
  const groups: Requirement[][] = [];
  for (let at = 0; at < work.length; at += size) groups.push(work.slice(at, at + size));
  groups.at(-1)?.push(...limits);
  return groups;
}

/** The order of work: what the persona cares for most comes first, else the order of the brief. */
export function orderRequirements({ material, worth }: Composer): Requirement[] {
  return material.requirements.toSorted((a, b) => worth(b.statement) - worth(a.statement));
}

/** What the brief wants done, each demand for itself. */
function asked(composer: Composer, count: number): Found[] {
  const tasks = orderRequirements(composer).filter((one) => one.statement.role !== 'limit');
  return tasks.slice(0, count).map(fromRequirement);
}

const fromRequirement = (one: Requirement): Found => ({
  title: one.statement.title,
  source: asSource(one.statement),
  requirements: [one],
});

/** Names of systems, each with the statement that says most about it; then the requirements. */
function named(composer: Composer, count: number): Found[] {
  const { material } = composer;
  const found: Found[] = [];
  for (const name of material.systems.slice(0, count)) {
    const source = material.sources.find((one) => one.statement.core.includes(name));
    if (source) found.push({ ...fromSource(composer, source), title: name });
  }
  return [...found, ...asked(composer, count - found.length)];
}

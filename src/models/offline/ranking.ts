import type { Intent, Mode } from './intents.ts';
import type { Material, Source } from './material.ts';
import type { Section } from './section.ts';
import { findLargest, overlap, type Query } from './term-index.ts';
import { weightOf } from './worth.ts';

/** Finds the statements that fit a section. */
export type Ranking = {
  /** Whether the statement stood in a section of that name. */
  isSame(this: void, source: Source, section: Section): boolean;
  /** The best first, none like another; inputs take turns, so that each is heard. */
  pick(this: void, section: Section, focus?: Source): Generator<Source, void>;
};

const SAME_SECTION = 4;
const NEVER = -100;
/** What a statement loses each time that it is used. */
const USED = 1.1;
const ALIKE = 0.75;
const MOST_RANKED = 60;
/** What a verdict loses in sections that tell instead of weighing. */
const JUDGED = 6;
const TURN = 4;

/** Sections in which a remark on a statement is at home. */
const WEIGHING: ReadonlySet<Intent> = new Set<Intent>([
  'agreement',
  'mitigation',
  'question',
  'risk',
  'tradeoff',
  'weakness',
]);

export function createRanking(
  material: Material,
  mode: Mode,
  worth: (source: Source) => number,
  used: ReadonlyMap<Source, number>,
): Ranking {
  const { sources } = material;
  const plain = sources.map((one) => worth(one) + weightOf(one.kind, mode));
  const weighing = plain.map((value, at) => value + apartOf(sources[at]!));
  const telling = weighing.map((value, at) =>
    sources[at]!.statement.verdict && mode !== 'critique' ? value - JUDGED : value,
  );
  const placesOf = createPlaces(sources);

  function rank(section: Section, focus?: Source): Source[] {
    const base = WEIGHING.has(section.intent) ? weighing : telling;
    const values = base.slice();
    for (const [at, score] of material.index.match(queryOf(section, focus))) values[at]! += score;
    for (const at of placesOf(section.key)) {
      const apart = base === telling ? telling[at]! - weighing[at]! : 0;
      values[at] = plain[at]! + apart + SAME_SECTION;
    }
    for (const [source, times] of used) if (source.at >= 0) values[source.at]! -= USED * times;
    if (/consensus|agree|common|shared/.test(section.key)) {
      for (const source of sources) if (source.labels.length > 1) values[source.at]! += 3;
    }
    return findLargest(values, MOST_RANKED).map((at) => sources[at]!);
  }

  return {
    isSame: (source, section) => placesOf(section.key).has(source.at),
    *pick(section, focus) {
      const chosen: Source[] = focus ? [focus] : [];
      const rest = rank(section, focus).filter((source) => source !== focus);
      const turns = new Map<string, number>();
      for (let next = takeNext(rest, chosen, turns); next; next = takeNext(rest, chosen, turns)) {
        chosen.push(next);
        const label = next.labels[0] ?? '';
        turns.set(label, (turns.get(label) ?? 0) + 1);
        yield next;
      }
    },
  };
}

/** A stage plan speaks to the section that it names alone. */
const apartOf = (source: Source): number => (source.kind === 'header' ? NEVER : 0);

const queryOf = ({ query }: Section, focus: Source | undefined): Query =>
  focus ? new Map([...focus.statement.terms.map((term) => [term, 2] as const), ...query]) : query;

/** Positions of the statements that stood in a section of a name, found once for each name. */
function createPlaces(sources: readonly Source[]): (key: string) => ReadonlySet<number> {
  const byName = new Map<string, number[]>();
  for (const { sections, at } of sources) {
    for (const name of sections) {
      const list = byName.get(name);
      if (list) list.push(at);
      else byName.set(name, [at]);
    }
  }
  const known = new Map<string, ReadonlySet<number>>();
  return (key) => {
    const before = known.get(key);
    if (before) return before;
    const names = [...byName.keys()].filter(
      (name) => name === key || isPart(name, key) || isPart(key, name),
    );
    const places = new Set(names.flatMap((name) => byName.get(name) ?? []));
    known.set(key, places);
    return places;
  };
}

/** Templates shorten headings: `User problem` stands over `user_problem_validation`. */
const isPart = (part: string, whole: string): boolean =>
  part.length > 3 && whole.startsWith(`${part}_`);

/** Takes the next out of `rest`; what is like a chosen one goes as well. */
function takeNext(
  rest: Source[],
  chosen: readonly Source[],
  turns: ReadonlyMap<string, number>,
): Source | undefined {
  const last = chosen.at(-1)?.statement.termSet;
  let best = -1;
  let least = Number.POSITIVE_INFINITY;
  for (let at = 0; at < rest.length; at++) {
    const source = rest[at]!;
    if (last && overlap(last, source.statement.termSet) > ALIKE) {
      rest.splice(at--, 1);
      continue;
    }
    const cost = at + TURN * (turns.get(source.labels[0] ?? '') ?? 0);
    if (cost < least) [best, least] = [at, cost];
  }
  return best < 0 ? undefined : rest.splice(best, 1)[0];
}

import type { Mode } from './intents.ts';
import type { Material, Source } from './material.ts';
import type { Persona } from './personas.ts';
import { fillTemplate, nameInput, quote } from './phrase.ts';
import type { BlockKind } from './read-request.ts';
import { traceIds } from './requirements.ts';
import type { Section } from './section.ts';
import { toTerms } from './segments.ts';
import type { Statement } from './statement.ts';
import { CRITIQUE, MERGE, SHARED, VOICES } from './templates.ts';
import { findLargest, hashOf, overlap } from './term-index.ts';

/** Writes sentences for one document and remembers what it said. */
export type Composer = {
  readonly material: Material;
  readonly persona: Persona;
  readonly mode: Mode;
  /** Worth of a statement to this persona, whatever the section. */
  worth(statement: Statement): number;
  /** The statements that fit best; the focus, where there is one, comes first. */
  choose(section: Section, count: number, focus?: Source): Source[];
  /** Up to `count` sentences for a section, none that the document has already. */
  say(section: Section, count: number, focus?: Source): string[];
  idsOf(source: Source): string[];
};

const WEIGHTS: Readonly<Record<Mode, Readonly<Record<BlockKind, number>>>> = {
  propose: {
    request: 1,
    seed: 0.9,
    header: 0.7,
    resource: 0.9,
    feedback: 1.4,
    sources: 0.7,
    document: 0.5,
  },
  critique: {
    request: 0.2,
    seed: 0.2,
    header: 0.2,
    resource: 0.4,
    feedback: 1.3,
    sources: 0.5,
    document: 1,
  },
  merge: {
    request: 0.4,
    seed: 0.4,
    header: 0.3,
    resource: 0.5,
    feedback: 1.4,
    sources: 0.5,
    document: 1,
  },
  plan: {
    request: 0.9,
    seed: 0.8,
    header: 0.4,
    resource: 0.6,
    feedback: 1.4,
    sources: 0.4,
    document: 0.8,
  },
};
const SAME_SECTION = 2.2;
const USED = 1.1;
const ALIKE = 0.75;

export function createComposer(material: Material, persona: Persona, mode: Mode): Composer {
  const stress = new Set(toTerms(persona.stress));
  const used = new Map<Source, number>();
  const said = new Set<string>();
  const templates = new Map<string, number>();
  const worth = (statement: Statement): number => worthOf(statement, stress, persona);
  const base = material.sources.map((one) => worth(one.statement) + WEIGHTS[mode][one.kind]);
  const traced = new Map<Source, string[]>();

  const idsOf = (source: Source): string[] => {
    const known = traced.get(source) ?? traceIds(source.statement, material.requirements);
    traced.set(source, known);
    return known;
  };

  function rank(section: Section, focus?: Source): Source[] {
    const query = focus
      ? new Map([...focus.statement.terms.map((term) => [term, 2] as const), ...section.query])
      : section.query;
    const scores = material.index.match(query);
    const values = material.sources.map(
      (source, at) =>
        base[at]! +
        (scores.get(at) ?? 0) +
        (source.statement.sections.includes(section.key) ? SAME_SECTION : 0) -
        USED * (used.get(source) ?? 0),
    );
    return findLargest(values, MOST_RANKED).map((at) => material.sources[at]!);
  }

  function choose(section: Section, count: number, focus?: Source): Source[] {
    const chosen: Source[] = focus ? [focus] : [];
    const ranked = rank(section, focus);
    const fromLabel = new Map<string, number>();
    while (chosen.length < count) {
      const next = takeNext(ranked, chosen, fromLabel);
      if (!next) break;
      chosen.push(next);
      const label = next.labels[0] ?? '';
      fromLabel.set(label, (fromLabel.get(label) ?? 0) + 1);
    }
    return chosen;
  }

  function say(section: Section, count: number, focus?: Source): string[] {
    const sentences: string[] = [];
    const subjects = choose(section, count + 4, focus);
    const order = focus
      ? subjects.flatMap((one) => (one === focus ? [one, one] : [one]))
      : subjects;
    for (const [at, source] of order.entries()) {
      if (sentences.length >= count) break;
      const other =
        subjects.find(
          (one) => one !== source && !sentences.some((text) => text.includes(one.statement.title)),
        ) ?? subjects.find((one) => one !== source);
      const text = phrase(section, source, other, at);
      if (text === undefined) continue;
      said.add(text);
      sentences.push(text);
      used.set(source, (used.get(source) ?? 0) + 1);
    }
    return sentences;
  }

  /** Takes the template that was used least, so that no two sentences sound alike. */
  function phrase(
    section: Section,
    source: Source,
    other: Source | undefined,
    at: number,
  ): string | undefined {
    const setting = {
      other: other?.statement,
      label: source.labels[0] ?? '',
      project: material.title,
      subject: section.subject,
      ids: idsOf(source),
    };
    const options = templatesFor(section, source, mode, persona)
      .map(({ template, voice }) => ({
        template,
        voice,
        text: fillTemplate(template, source.statement, setting),
      }))
      .filter(
        (one): one is typeof one & { text: string } =>
          one.text !== undefined && !said.has(one.text),
      )
      .map((one) => ({ ...one, cost: costOf(one, at) }))
      .toSorted((a, b) => a.cost - b.cost);
    const best = options[0];
    if (best) templates.set(best.template, (templates.get(best.template) ?? 0) + 1);
    return best?.text;
  }

  const costOf = (one: { template: string; voice: boolean; text: string }, at: number): number =>
    (one.template === '{s}' ? VERBATIM : (templates.get(one.template) ?? 0)) +
    (hashOf(one.text) % 100) / 250 -
    (one.voice && at === 0 ? 0.6 : 0);

  return {
    material,
    persona,
    mode,
    worth,
    choose,
    say,
    idsOf,
  };
}

const MOST_RANKED = 60;
const VERBATIM = 0.45;

/** The best that is unlike what was chosen; inputs take turns, so that each is heard. */
function takeNext(
  ranked: readonly Source[],
  chosen: readonly Source[],
  fromLabel: ReadonlyMap<string, number>,
): Source | undefined {
  let best: { source: Source; cost: number } | undefined;
  for (const [at, source] of ranked.entries()) {
    if (chosen.includes(source)) continue;
    if (chosen.some((one) => overlap(one.statement.terms, source.statement.terms) > ALIKE))
      continue;
    const cost = at + 4 * (fromLabel.get(source.labels[0] ?? '') ?? 0);
    if (!best || cost < best.cost) best = { source, cost };
  }
  return best?.source;
}

function worthOf(statement: Statement, stress: ReadonlySet<string>, persona: Persona): number {
  const { terms, traits, remark, core } = statement;
  const hits = terms.filter((term) => stress.has(term)).length;
  return (
    (0.9 * hits) / Math.sqrt(terms.length + 3) +
    (traits.figure !== '' ? persona.values.figure : 0) +
    (traits.risk ? persona.values.risk : 0) +
    (traits.actor !== '' ? persona.values.actor : 0) +
    (traits.requirement ? 0.25 : 0) +
    (remark !== '' ? 0.2 : 0) -
    (traits.question ? 0.6 : 0) -
    (terms.length < 3 ? 0.8 : 0) -
    (/: -?\d+(?:\.\d+)?$/.test(core) ? 2 : 0)
  );
}

type Offer = { readonly template: string; readonly voice: boolean };

function templatesFor(section: Section, source: Source, mode: Mode, persona: Persona): Offer[] {
  const { intent, key } = section;
  const same = source.statement.sections.includes(key);
  const keeps = mode === 'merge' || mode === 'plan' || source.kind === 'feedback';
  if (same && keeps && source.statement.remark === '') return [{ template: '{s}', voice: false }];
  const own = VOICES[persona.name][intent] ?? [];
  const common = SHARED[intent] ?? ['{s}'];
  const special =
    mode === 'critique' && source.kind === 'document'
      ? (CRITIQUE[intent] ?? [])
      : mode === 'merge'
        ? (MERGE[intent] ?? [])
        : [];
  const mute = mode === 'critique' && source.kind === 'document';
  return [
    ...special.map((template) => ({ template, voice: true })),
    ...own.map((template) => ({ template, voice: true })),
    ...common
      .filter((template) => !(mute && template === '{s}'))
      .map((template) => ({ template, voice: false })),
  ];
}

/** Where two inputs speak of the same thing in different words. */
export function findDifference(sources: readonly Source[]): string | undefined {
  for (const [at, a] of sources.entries()) {
    for (const b of sources.slice(at + 1)) {
      if (a.labels.length !== 1 || b.labels.length !== 1 || a.labels[0] === b.labels[0]) continue;
      const share = overlap(a.statement.terms, b.statement.terms);
      if (share < 0.3 || share > 0.8) continue;
      return `They differ here: ${tell(a)}, while ${tell(b)}.`;
    }
  }
  return undefined;
}

const tell = ({ labels, statement }: Source): string =>
  `${nameInput(labels[0] ?? '')} says ${quote(statement.core, statement.cites)}`;

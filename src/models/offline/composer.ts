import type { Mode } from './intents.ts';
import type { Material, Source } from './material.ts';
import { type Offer, offerTemplates, VERBATIM } from './offers.ts';
import type { Persona } from './personas.ts';
import { fillTemplate, type Setting } from './phrase.ts';
import { createRanking, type Ranking } from './ranking.ts';
import { traceIds } from './requirements.ts';
import type { Section } from './section.ts';
import { toTerms } from './segments.ts';
import type { Statement } from './statement.ts';
import { systemIn } from './systems.ts';
import { hashOf, overlap } from './term-index.ts';
import { worthOf } from './worth.ts';

/** Writes sentences for one document and remembers what it said. */
export type Composer = {
  readonly material: Material;
  readonly persona: Persona;
  readonly mode: Mode;
  /** Worth of a statement to this persona, whatever the section. */
  worth(this: void, statement: Statement): number;
  /** The statements that fit best; the focus, where there is one, comes first. */
  choose(this: void, section: Section, count: number, focus?: Source): Source[];
  /** Up to `count` sentences for a section, none that the document has already. */
  say(this: void, section: Section, count: number, focus?: Source): string[];
  idsOf(this: void, source: Source): string[];
  /** Another document begins: what was said may be said again. */
  startOver(this: void): void;
};

/** What a composer knows and remembers. */
type Memory = Pick<Composer, 'material' | 'persona' | 'mode' | 'idsOf'> & {
  readonly ranking: Ranking;
  /** What is to be done, what the persona cares for first. */
  readonly tasks: readonly Statement[];
  readonly used: Map<Source, number>;
  readonly said: Set<string>;
  readonly templates: Map<string, number>;
};

export function createComposer(material: Material, persona: Persona, mode: Mode): Composer {
  const stress = new Set(toTerms(persona.stress));
  const worth = (statement: Statement): number => worthOf(statement, stress, persona);
  const used = new Map<Source, number>();
  const traced = new Map<Source, string[]>();
  const idsOf = (source: Source): string[] => {
    const ids = traced.get(source) ?? traceIds(source.statement, material.requirements);
    traced.set(source, ids);
    return ids;
  };
  const ranking = createRanking(material, mode, (source) => worth(source.statement), used);
  const tasks = material.requirements
    .map((one) => one.statement)
    .filter((one) => one.role === 'task')
    .toSorted((a, b) => worth(b) - worth(a));
  const said = new Set<string>();
  const parts = { material, persona, mode, idsOf };
  const memory: Memory = { ...parts, ranking, tasks, used, said, templates: new Map() };
  return {
    ...parts,
    worth,
    choose(section, count, focus) {
      const chosen = focus ? [focus] : [];
      for (const source of ranking.pick(section, focus)) {
        if (chosen.length >= count) break;
        chosen.push(source);
      }
      return chosen;
    },
    say: (section, count, focus) => say(memory, section, count, focus),
    startOver: () => said.clear(),
  };
}

/** How often a focus, or the subjects of a section, are gone through before that is enough. */
const ROUNDS = 4;

function* orderSubjects(memory: Memory, section: Section, focus?: Source): Generator<Source, void> {
  if (focus) for (let round = 0; round < ROUNDS; round++) yield focus;
  const subjects: Source[] = [];
  for (const source of memory.ranking.pick(section, focus)) {
    subjects.push(source);
    yield source;
  }
  yield* subjects;
  yield* subjects;
}

function say(memory: Memory, section: Section, count: number, focus?: Source): string[] {
  const sentences: string[] = [];
  const spent = new Set<string>();
  const forms = new Set<string>();
  if (count === 0) return sentences;
  for (const source of orderSubjects(memory, section, focus)) {
    const text = phrase(memory, section, source, spent, sentences.length === 0);
    const form = text?.replace(/‘[^‘’]*’|“[^“”]*”/g, '…') ?? '';
    if (text === undefined || (forms.has(form) && form.includes('…'))) continue;
    forms.add(form);
    memory.said.add(text);
    sentences.push(text);
    memory.used.set(source, (memory.used.get(source) ?? 0) + 1);
    if (sentences.length >= count) break;
  }
  return sentences;
}

/** Takes the template that was used least, so that no two sentences sound alike. */
function phrase(
  memory: Memory,
  section: Section,
  source: Source,
  spent: Set<string>,
  first: boolean,
): string | undefined {
  const { mode, persona, ranking, said, templates } = memory;
  const setting = describeSetting(memory, section, source);
  const same = ranking.isSame(source, section);
  let best: { template: string; text: string; cost: number } | undefined;
  for (const offer of offerTemplates(section, source, mode, persona, same)) {
    if (spent.has(offer.template)) continue;
    const text = fillTemplate(offer.template, source.statement, setting);
    if (text === undefined || said.has(text)) continue;
    const cost = costOf(offer, text, first, templates);
    if (!best || cost < best.cost) best = { template: offer.template, text, cost };
  }
  if (!best) return undefined;
  templates.set(best.template, (templates.get(best.template) ?? 0) + 1);
  if (best.template !== VERBATIM) spent.add(best.template);
  return best.text;
}

const VERBATIM_COST = 0.45;
const VOICE_FIRST = 0.6;

/** Chance is a hash of the text, and decides only among templates that were used equally often. */
const costOf = (
  { template, voice }: Offer,
  text: string,
  first: boolean,
  templates: ReadonlyMap<string, number>,
): number =>
  (template === VERBATIM ? VERBATIM_COST : (templates.get(template) ?? 0)) +
  (hashOf(text) % 100) / 250 -
  (voice && first ? VOICE_FIRST : 0);

function describeSetting(memory: Memory, section: Section, source: Source): Setting {
  const { material, mode, idsOf } = memory;
  const { statement, kind } = source;
  const label = source.labels[0] ?? '';
  return {
    other: findOther(memory, statement),
    system: systemIn(statement.core, material.systems),
    label,
    project: material.title,
    subject: section.subject,
    origin: mode === 'critique' && label !== '' ? ` (${label})` : '',
    quotable: kind === 'document' || statement.role !== 'context',
    ids: idsOf(source),
  };
}

const ALIKE = 0.75;
const MOST_OTHERS = 4;

/** Another thing to do than the statement speaks of, changing from sentence to sentence. */
function findOther({ tasks, said }: Memory, statement: Statement): Statement | undefined {
  const rest = tasks.filter(
    (one) => one.title !== statement.title && overlap(one.termSet, statement.termSet) < ALIKE,
  );
  const count = Math.min(MOST_OTHERS, Math.max(1, rest.length));
  return rest[hashOf(statement.core + said.size) % count];
}

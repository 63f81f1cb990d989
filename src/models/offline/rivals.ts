import type { Composer } from './composer.ts';
import { QUALITY_WORDS } from './intents.ts';
import type { Input, Source } from './material.ts';
import { nameInput, quote } from './phrase.ts';
import { findUncovered } from './requirements.ts';
import { toTerms } from './segments.ts';

/** One of several documents that answer the same question, and how it does. */
export type Rival = {
  readonly label: string;
  readonly input: Input;
  /** 0 to 10. */
  readonly score: number;
  /** Share of the requirements that it takes up. */
  readonly coverage: number;
  /** How the score came about. */
  readonly reason: string;
};

const COVERAGE = 6;
const CONCERN = 3;
const FIGURES = 1;

/** The documents of which the request holds several of one kind, the best first. */
export function rankRivals(composer: Composer): Rival[] {
  const given = composer.material.inputs.filter((input) => input.block.kind === 'document');
  // A message without a tag, such as the stage's setting, is read as a document but has no key.
  const keyed = given.filter((input) => input.block.key !== '');
  const documents = keyed.length > 0 ? keyed : given;
  const groups = new Map<string, Input[]>();
  for (const input of documents) {
    const key = `${input.block.stage}/${input.block.key}`;
    groups.set(key, [...(groups.get(key) ?? []), input]);
  }
  const largest = [...groups.values()].toSorted((a, b) => b.length - a.length)[0] ?? [];
  const rivals = largest.length > 1 ? largest : documents;
  return rivals
    .map((input) => judge(input, composer))
    .toSorted((a, b) => b.score - a.score || (a.label < b.label ? -1 : 1));
}

function judge(input: Input, { material, persona }: Composer): Rival {
  const statements = input.sources.map((source) => source.statement);
  const missing = findUncovered(material.requirements, statements);
  const asked = material.requirements.length;
  const stress = new Set(toTerms(persona.stress));
  const concerned = statements.filter((one) => one.terms.some((term) => stress.has(term))).length;
  const figures = statements.filter((one) => one.traits.figure !== '').length;
  const total = Math.max(1, statements.length);
  const coverage = (asked - missing.length) / Math.max(1, asked);
  const score =
    COVERAGE * coverage +
    CONCERN * (concerned / total) +
    FIGURES * Math.min(1, (4 * figures) / total);
  const left = missing.map((one) => one.id).join(', ');
  return {
    label: input.block.label,
    input,
    score: Math.round(score * 10) / 10,
    coverage,
    reason:
      `Takes up ${asked - missing.length} of the ${asked} requirements` +
      `${left === '' ? '' : ` (not ${left})`}; ${concerned} of its ${total} statements speak of ` +
      `${persona.concern}, and ${figures} give a figure.`,
  };
}

/** How much a set of statements says on a subject: a share, the count and the nearest one. */
export type Measure = {
  /** 0 to 1. */
  readonly share: number;
  readonly reason: string;
};

/** Counts what is said on a subject; nothing is judged that was not said. */
export function measure(subject: string, sources: readonly Source[], who: string): Measure {
  const words = QUALITY_WORDS.find(([pattern]) => pattern.test(subject))?.[1] ?? '';
  const terms = new Set([...toTerms(subject), ...toTerms(words)]);
  const hits = sources
    .map((source) => ({
      source,
      count: source.statement.terms.filter((term) => terms.has(term)).length,
    }))
    .filter((one) => one.count > 0)
    .toSorted((a, b) => b.count - a.count || a.source.at - b.source.at);
  const name = nameInput(who);
  const total = sources.length;
  const nearest = hits[0]?.source.statement;
  if (!nearest) {
    return { share: 0, reason: `None of the ${total} statements of ${name} speaks of ${subject}.` };
  }
  const figures = hits.filter(({ source }) => source.statement.traits.figure !== '').length;
  const share = Math.min(1, hits.length / (total * 0.3 + 1)) * 0.7 + Math.min(1, figures / 3) * 0.3;
  const some = hits.length === 1 ? 'One' : `${hits.length}`;
  const speak = hits.length === 1 ? 'speaks' : 'speak';
  return {
    share,
    reason:
      `${some} of the ${total} statements of ${name} ${speak} of ` +
      `${subject}, ${figures} with a figure; the nearest is ${quote(nearest.core, nearest.cites)}.`,
  };
}

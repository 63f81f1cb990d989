import { rememberWith } from '../context/remember-with.ts';
import { type Passage, searchTexts } from '../context/search-texts.ts';
import { findEmbedder } from '../context/sentence-embedder.ts';
import { auditDocument } from '../generation/audit-document.ts';
import { findFaultyStatements } from '../generation/faulty-statements.ts';
import type { JsonRecord } from '../generation/json-reader.ts';
import { findSourceTexts, type SourceText } from '../generation/pack-sources.ts';
import { type GivenPassage, NO_RERUN, type Rerun } from '../generation/rerun.ts';
import type { Answered } from './call.ts';
import type { HandlerDeps } from './handler-deps.ts';

/** So many statements are searched for; a request can take up no more. */
const MOST_STATEMENTS = 12;
/** Of so many passages for each statement those are taken that were not tried. */
const MOST_PASSAGES = 12;
const TAKEN_EACH = 2;
const MOST_CHARACTERS = 8_000;
/** Passages that are high in neither ranking, by meaning or by words, do not serve a statement. */
const LEAST_SCORE = 0.3;

/**
 * Searches the stored sources for passages on the statements with faults that the document's writer
 * did not have: of sources that the statement does not cite, or that the prompt did not show. Null
 * where there are none that were not given before.
 */
export async function findOtherEvidence(
  { database, embedder = findEmbedder() }: Pick<HandlerDeps, 'database' | 'embedder'>,
  tenantId: string,
  answered: Answered,
  content: JsonRecord,
): Promise<Rerun | null> {
  const { sources, session } = answered;
  const before = answered.standing.rerun ?? NO_RERUN;
  const defects = auditDocument(answered, content)?.defects ?? [];
  const faulty = findFaultyStatements(answered, content, defects).slice(0, MOST_STATEMENTS);
  const texts = findSourceTexts(sources);
  const place = { database, tenantId, projectId: session.projectId, sessionId: session.id };
  const memory = { ...place, embedder, remember: rememberWith(place, embedder) };
  const found = await searchTexts(
    memory,
    texts.map(({ text }) => text),
    faulty.map(({ text }) => text),
    MOST_PASSAGES,
  );
  const shown = answered.request.messages.map(({ content: said }) => said).join('\n');
  const known = new Set(before.given.flat().map(({ text }) => text));
  const others = faulty.map(({ cites }, at) => {
    const tried = cites.map((id) => sources.find(id)?.aliasOf ?? id);
    const fresh = (found[at] ?? [])
      .filter(({ passage, score }) => score >= LEAST_SCORE && !known.has(passage))
      .map((passage) => ({ ...passage, isShown: shown.includes(passage.passage) }))
      .filter(({ text, isShown }) => !isShown || !tried.includes(texts[text]!.source.id));
    // First what the prompt did not show at all.
    return fresh.toSorted((a, b) => Number(a.isShown) - Number(b.isShown));
  });
  const passages = takePassages(others);
  if (passages.length === 0) return null;
  const cited = faulty.flatMap(({ cites }) => cites).filter((id) => sources.find(id));
  return {
    lanes: before.lanes,
    tried: [...new Set([...before.tried, ...cited])],
    given: [...before.given, passages.map((one) => toGiven(one, texts))],
  };
}

/** The best of each statement in turn, each passage once, as far as there is room. */
function takePassages(others: readonly (readonly Passage[])[]): Passage[] {
  const taken = new Map<string, Passage>();
  let left = MOST_CHARACTERS;
  for (const passage of others.flatMap((some) => some.slice(0, TAKEN_EACH))) {
    if (taken.has(passage.passage) || passage.passage.length > left) continue;
    taken.set(passage.passage, passage);
    left -= passage.passage.length;
  }
  return [...taken.values()];
}

const toGiven = ({ text, passage }: Passage, texts: readonly SourceText[]): GivenPassage => ({
  id: texts[text]!.id,
  text: passage,
});

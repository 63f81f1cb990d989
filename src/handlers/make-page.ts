import { withFrontMatter } from '../documents/front-matter.ts';
import { isFilled } from '../generation/fill-fields.ts';
import { renderDocument } from '../generation/render-document.ts';
import type { Loss } from '../planning/types.ts';
import { requireContract } from '../recipe/contract.ts';
import { stageOf, stepOf } from '../recipe/edges.ts';
import { type CitationRecord, citationFacts, warnOfFaults } from '../session/citation-record.ts';
import { describeMissing } from '../session/missing-text.ts';
import { laneOf, type SessionView } from '../session/read.ts';
import { formatFootnotes } from '../sources/footnotes.ts';
import type { SourceSet } from '../sources/source-set.ts';
import { requireRecord } from '../text/is-record.ts';
import { safeInline } from '../text/markdown-text.ts';
import { type ChainCost, describeCost } from './chain-cost.ts';
import type { Loaded } from './load.ts';

/** A document of a step with a template, and what its page says of its making. */
export type PageSubject = {
  readonly session: SessionView;
  readonly id: string;
  readonly stage: string;
  readonly step: string;
  readonly documentKey: string;
  readonly iteration: number;
  readonly version: number;
  readonly laneId: string;
  readonly missing: readonly Loss[];
  readonly content: unknown;
  /** Its Markdown as prompts show it. */
  readonly body: string;
  readonly citations: CitationRecord | null;
  readonly sources: SourceSet;
  readonly cost: ChainCost;
};

/** What is known of a document when it is made. */
type MadeDocument = Pick<PageSubject, 'id' | 'content' | 'citations' | 'cost'> & {
  readonly body: string | null;
};

/** The page of a document that is to be saved; null where its step has no template. */
export function pageOf(
  { session, planned, version, sources }: Loaded,
  { body, ...made }: MadeDocument,
): string | null {
  if (body === null) return null;
  const { stage, step, documentKey, iteration, laneId, missing = [] } = planned;
  const place = { stage, step, documentKey, iteration, laneId, missing };
  return makePage({ session, version, sources, ...place, ...made, body });
}

/** The page of a document: its Markdown behind the facts of its making. */
export function makePage(subject: PageSubject): string {
  const { session, stage, documentKey, iteration, version, id, missing, citations } = subject;
  const lane = laneOf(session, subject.laneId);
  // Six lines that a reader can bear; the JSON beside the file has the rest.
  const facts = {
    document: `${stage}/${documentKey}`,
    participant: `${lane.ordinal} ${lane.model}`,
    version: `pass ${iteration}, version ${version}`,
    cost: describeCost(subject.cost),
    id,
    ...(missing.length > 0 && { degraded: true }),
    ...citationFacts(citations),
  };
  const gaps = describeMissing(session, missing).map(safeInline);
  const { sources } = subject;
  const markdown = showToPeople(subject);
  const cited =
    sources.size === 0 ? markdown : formatFootnotes(markdown, sources.find, sources.standing);
  return withFrontMatter(facts, `${warnOfFaults(citations)}${withGaps(gaps, cited)}`);
}

/** The stored body; only people see what code filled in, so that such a document is rendered anew. */
function showToPeople({ session: { process }, content, body, ...subject }: PageSubject): string {
  const stage = stageOf(process, subject.stage);
  const step = stepOf(stage, subject.step);
  return isFilled(requireContract(stage, step), content)
    ? renderDocument(process, stage, step, requireRecord(content))
    : body;
}

/** A degraded document says so in its first line, before its title. */
const withGaps = (gaps: readonly string[], markdown: string): string =>
  gaps.length === 0
    ? markdown
    : `> **Degraded: written without the following.** ${gaps.join('. ')}.\n\n${markdown}`;

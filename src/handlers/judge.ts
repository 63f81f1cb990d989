import {
  auditDocument,
  normaliseCitations,
  settleCitations,
} from '../generation/audit-document.ts';
import { joinFrom, keepSections } from '../generation/chain.ts';
import { describeDefects } from '../generation/describe-defects.ts';
import { findDefects } from '../generation/find-defects.ts';
import { isRecord } from '../generation/json-reader.ts';
import { type JudgedAnswer, judgeAnswer, type Verdict } from '../generation/judge-answer.ts';
import { neverRepeated } from '../generation/never-repeated.ts';
import { mostReruns, type Rerun } from '../generation/rerun.ts';
import { tryRendering } from '../generation/try-rendering.ts';
import type { ModelRequest } from '../models/types.ts';
import { elapsedMs } from '../platform/clock.ts';
import { monitor } from '../platform/performance-monitor.ts';
import { describeDocument, requireContract } from '../recipe/contract.ts';
import type { ContinuationLimit } from '../recipe/types.ts';
import type { Assembled } from './assemble.ts';
import type { Answered } from './call.ts';
import type { Loaded } from './load.ts';

/** An answer with what follows from it. */
export type Judged = Answered & {
  readonly verdict: Verdict;
  /** The chunk with which the judged text begins; undefined where it is this answer's own. */
  readonly firstChunk: string | undefined;
  /** How the document is asked for next where its citations stay wrong; else as it was. */
  readonly rerun: Rerun | null;
  /** Whether it is the first of its session that is asked for again only because it cites too little. */
  readonly isFirstUncited?: boolean;
};

/** What a document may be asked for again for: in another way, and because it cites too little. */
type MayAsk = { readonly most?: number; readonly asksForSources?: boolean };

/** Decides what an answer means for the document. */
export function judge(
  answered: Answered,
  { most = mostReruns(answered), asksForSources = true }: MayAsk = {},
): Judged {
  const { answer, isCutHere } = answered;
  const { state, problems, soFar, rerun } = answered.standing;
  const { citations, ...whole } = whatIsAsked(answered);
  const asked = { ...whole, citations: { ...citations, asksForSources }, mostReruns: most };
  const kept = keepSections(answered.chunks, answered.standing.kept, asked.sections);
  const text = problems === null ? soFar : '';
  const later = answered.turn?.later ?? [];
  const judged = { ...asked, soFar: text, result: answer, state, kept, later };
  const verdict = judgeAnswer(judged);
  const isCut =
    verdict.kind === 'continue' ||
    (verdict.kind === 'give-up' && verdict.code === 'continuation_exhausted');
  const firstChunk = findFirstChunk(answered);
  // Kills and stops never exhaust a chain.
  if (isCutHere && isCut) {
    return { ...answered, verdict: { kind: 'continue', state }, firstChunk, rerun };
  }
  const valid = verdict.kind === 'give-up' ? takeValid(answered, judged) : undefined;
  return { ...answered, verdict, firstChunk, rerun, ...valid };
}

/** What stands where a request for other citations cannot be made; null where nothing valid does. */
export function judgeWithout(assembled: Assembled): KeptDocument | null {
  const result = { text: '', finishReason: 'stop' as const };
  const { state } = assembled.standing;
  const judged = { ...whatIsAsked(assembled), soFar: '', result, state };
  const valid = takeValid(assembled, judged);
  return valid?.verdict.kind === 'document'
    ? { ...assembled, ...valid, verdict: valid.verdict }
    : null;
}

/** A document of earlier answers that is kept without a further one. */
export type KeptDocument = Assembled & {
  readonly verdict: Extract<Verdict, { kind: 'document' }>;
  readonly firstChunk: string;
};

function findFirstChunk({ standing, chunks }: Loaded): string | undefined {
  const [first] = standing.kept;
  if (first) return chunks.find(({ ordinal }) => ordinal === first.from)?.id;
  // A repair that keeps nothing writes the whole text again.
  if (standing.problems !== null) return undefined;
  return chunks.find(({ ordinal }) => ordinal >= standing.from)?.id;
}

/** The valid document that its writer was asked to mend and did not; it stands as it is. */
function takeValid({ standing: { valid }, chunks }: Loaded, judged: JudgedAnswer) {
  if (valid === null) return undefined;
  const attempt = chunks.filter(({ ordinal }) => ordinal >= valid.from && ordinal <= valid.to);
  const [first, last] = [attempt[0], attempt.at(-1)];
  if (!first || !last) return undefined;
  const { text, finishReason } = last;
  const verdict = judgeAnswer({
    ...judged,
    soFar: joinFrom(attempt.slice(0, -1), valid.from).soFar,
    result: { text, finishReason },
    findDefects: () => [],
    mostReruns: 0,
    ...(judged.citations && { citations: { ...judged.citations, findFaults: () => [] } }),
    kept: keepSections(chunks, valid.kept ?? [], judged.sections),
    later: [],
  });
  return { verdict, firstChunk: first.id };
}

/** A document of few words may be long before it is cut off for good. */
const LONGEST_AT_LEAST = 40_000;
/** Four times what was asked for, at seven characters a word. */
const LONGEST_PER_WORD = 28;

/** A word with its space, its quotes and its share of the keys, as the estimate counts it. */
const CHARS_PER_WORD = 8;
/** Documents and plans whose contracts ask for no number of words have seldom more. */
const USUAL_CHARS = 25_000;

const expectChars = (words: number): number =>
  words === 0 ? USUAL_CHARS : Math.max(USUAL_CHARS / 2, CHARS_PER_WORD * words);

type WhatIsAsked = Omit<JudgedAnswer, 'soFar' | 'result' | 'state'> &
  Required<Pick<JudgedAnswer, 'citations'>>;

/** An answer without end stops at a multiple of what its contract asks for. */
function limitLength(limit: ContinuationLimit, words: number): ContinuationLimit {
  if (words === 0) return limit;
  const longest = Math.max(LONGEST_AT_LEAST, LONGEST_PER_WORD * words);
  return { ...limit, maxChars: Math.min(limit.maxChars, longest) };
}

function whatIsAsked(answered: Assembled): WhatIsAsked {
  const { stage, step, inputs, request } = answered;
  const base = inputs.find(({ name }) => name === step.extends)?.content;
  return {
    contract: requireContract(stage, step),
    sections: describeDocument(stage, step).sections.map((section) => section.key),
    given: neverRepeated(answered),
    limit: limitLength(step.continuation, describeDocument(stage, step).words),
    expected: {
      chars: expectChars(describeDocument(stage, step).words),
      ...(request.maxOutputTokens !== undefined && { tokensAtOnce: request.maxOutputTokens }),
    },
    countRead: () => countCharacters(request),
    tryRendering: (content) => tryRendering(answered, content),
    findDefects: (content, body) => findDefects(answered, content, body),
    citations: {
      hasSources: answered.sources.size > 0,
      normalise: (content) => normaliseCitations(answered, content),
      findFaults: (content) => {
        const startedMs = elapsedMs();
        const audit = auditDocument(answered, content);
        if (audit !== null) monitor.observe('audit', elapsedMs() - startedMs);
        return audit === null ? [] : describeDefects(audit);
      },
      settle: (content) => settleCitations(answered, content),
    },
    ...(isRecord(base) && { extended: base }),
  };
}

const countCharacters = ({ system, messages }: ModelRequest): number =>
  messages.reduce((sum, { content }) => sum + content.length, system.length);

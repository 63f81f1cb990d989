import type { ModelResult } from '../models/types.ts';
import { GUIDANCE_SECTION, piecesOf, sectionsOf } from '../recipe/portions.ts';
import type { ContinuationLimit } from '../recipe/types.ts';
import { countNoun } from '../text/count-noun.ts';
import { checkContract, describeProblems } from './check-contract.ts';
import type { CitationFault } from './describe-defects.ts';
import { isEmpty } from './is-blank.ts';
import { joinChunk } from './join-chunks.ts';
import { isRecord, type JsonRecord } from './json-reader.ts';
import { keepOver } from './keep-over.ts';
import { type ContractSchema, requiredOf } from './loosen-contract.ts';
import { mergeOver } from './merge-over.ts';
import { parseOutput } from './parse-output.ts';
import type { Rendering } from './try-rendering.ts';

/** Where a chain of calls for one document stands; travels in the payload of its next link. */
export type ChainState = {
  /** Calls for this document or portion so far, requests to write it again included. */
  readonly turns: number;
  /** Turns in all that added less than they were worth; absent in chains of earlier releases. */
  readonly poor?: number;
  /** Turns in a row that added nothing. */
  readonly idle: number;
  readonly repairs: number;
  /** How often the document was asked for again because of defects beyond its contract. */
  readonly mended?: number;
  /** How often it was asked for again because of its citations. */
  readonly audits?: number;
  /** How often of these only because too few statements cite a source. */
  readonly uncited?: number;
  /** How often it was asked for once more after that, as its recipe says. */
  readonly reruns?: number;
};

export const FIRST_TURN: ChainState = { turns: 0, idle: 0, repairs: 0 };
const MOST_REPAIRS = 2;
/** Defects beyond the contract go back to the writer once; then the document is kept with them. */
const MOST_MENDED = 1;
/** So often a writer is asked for other citations; then the document is kept, and says what is wrong. */
const MOST_AUDITS = 2;
/** A model that cites nothing when it is asked to will not do so when it is asked again. */
const MOST_UNCITED = 1;
/** A turn that adds fewer characters than this counts as one without progress. */
const LEAST_PROGRESS = 16;
/**
 * A turn is worth its price where it adds a character for every four hundred that it reads. Input
 * costs about a fifth of output, and a tenth of that where the provider has it cached: at that rate
 * reading costs eight to eighty times as much as writing.
 */
const READ_FOR_ONE = 400;
const LEAST_WORTH = 64;
/** However long the prompt is, a turn that adds so much is worth it. */
const PLENTY = 600;
/** Calls that every document may take; more only while the model could not have been done in them. */
const USUAL_CALLS = 10;
/** A text of twice the expected length is no reason for more calls. */
const MOST_OF_EXPECTED = 2;
const CHARS_PER_TOKEN = 3;
/** A lost connection makes a poor turn too, so some are allowed. */
const MOST_POOR = 5;

/** Reasons for which a document may be asked for again, beside its contract. */
type AskedAgain = {
  /** Whether code looks for defects beyond the contract. */
  readonly isChecked: boolean;
  /** Whether there are sources, with which its citations are compared. */
  readonly isAudited: boolean;
  /** How often it may be asked for once more where its citations stay wrong. */
  readonly mostReruns: number;
};

/** How often a document is asked for again at most, which an estimate has to hold. */
export const mostRepetitions = ({ isChecked, isAudited, mostReruns }: AskedAgain): number =>
  MOST_REPAIRS + (isChecked ? MOST_MENDED : 0) + (isAudited ? MOST_AUDITS + mostReruns : 0);

export type GiveUpCode =
  | 'continuation_exhausted'
  | 'model_output_invalid'
  | 'model_refused'
  | 'template_invalid';

export type Verdict =
  | {
      readonly kind: 'document';
      readonly content: JsonRecord;
      /** Its Markdown; null where its step has no template. */
      readonly body: string | null;
    }
  | { readonly kind: 'continue'; readonly state: ChainState }
  | {
      /** What was asked for is there; these sections have yet to be asked for. */
      readonly kind: 'part';
      readonly only: readonly string[];
      readonly state: ChainState;
    }
  | {
      /** `mend`: what was written is a document already, which stands if nothing better follows. */
      readonly kind: 'repair' | 'mend';
      readonly problems: string;
      /** The sections that are to be written again, where the others stay; else all of them. */
      readonly only: readonly string[];
      readonly state: ChainState;
      /** Whether nothing is wrong but that too few statements cite a source. */
      readonly isUncited?: true;
      /** The document, where its writer does not mend its citations: others must, or other evidence. */
      readonly unsupported?: JsonRecord;
    }
  | {
      readonly kind: 'give-up';
      readonly code: GiveUpCode;
      readonly reason: string;
    };

/** How the citations of a document are written, audited and, in the end, settled. */
type CitationRules = {
  /** The content with its citations written plainly. */
  readonly normalise: (content: JsonRecord) => JsonRecord;
  readonly findFaults: (content: JsonRecord) => readonly CitationFault[];
  /** The content without citations of what does not exist; the same where there is none. */
  readonly settle: (content: JsonRecord) => JsonRecord;
  /**
   * Whether there are sources. Where there are none, only a citation that was invented is wrong: it
   * shares the number of requests with the repairs of the contract, so that three are the most.
   */
  readonly hasSources: boolean;
  /** False where the run has asked for sources as often as it may; absent = not yet decided. */
  readonly asksForSources?: boolean;
};

export type JudgedAnswer = {
  /** The text before this turn; empty at the first turn and after a request to write anew. */
  readonly soFar: string;
  readonly result: Pick<ModelResult, 'text' | 'finishReason'>;
  readonly state: ChainState;
  readonly contract: ContractSchema;
  readonly sections: readonly string[];
  /** What the model was shown; an answer that only repeats it is refused. */
  readonly given: readonly unknown[];
  readonly limit: ContinuationLimit;
  /** About how long the document becomes; the tokens that one answer may have, where known. */
  readonly expected?: { readonly chars: number; readonly tokensAtOnce?: number };
  /** How many characters the request of this turn had; asked for only where the answer was cut. */
  readonly countRead: () => number;
  /** What is still wrong with a document that fulfils its contract, one line for each defect. */
  readonly findDefects: (content: JsonRecord, body: string | null) => readonly string[];
  /** What is done about citations; absent where no document is audited. */
  readonly citations?: CitationRules;
  /** How often the document may be asked for in another way where its citations stay wrong. */
  readonly mostReruns?: number;
  /** The Markdown of a document that fulfils its contract, or why it has none. */
  readonly tryRendering: (content: JsonRecord) => Rendering;
  /** Sections that were not asked for yet, because not all fit the window at once. */
  readonly later?: readonly string[];
  /** Sections of earlier attempts that stay unless the answer has them again. */
  readonly kept?: JsonRecord;
  /** The document of which the answer states only the changes. */
  readonly extended?: JsonRecord;
};

/** Decides what a turn has brought: a document, the need to go on or to write anew, or an end. */
export function judgeAnswer(judged: JudgedAnswer): Verdict {
  const { soFar, result, contract, sections, kept, extended, state } = judged;
  const later = judged.later ?? [];
  if (result.finishReason === 'content_filter') {
    return { kind: 'give-up', code: 'model_refused', reason: 'the provider withheld the answer.' };
  }
  const finished = result.finishReason === 'stop';
  const { kind, text } = joinChunk(soFar, result.text, finished);
  if (kind === 'refused') return goOn(judged, text);
  const parsed = parseOutput(text, { finished, sections });
  if (parsed.kind === 'document') {
    const written = keepOver(kept ?? {}, parsed.content);
    const merged = extended ? mergeOver(extended, written) : written;
    const content = judged.citations?.normalise(merged) ?? merged;
    const asked = withoutLater(contract, later, content);
    const next: Verdict = {
      kind: 'part',
      only: later,
      // A document has as many portions as its contract names; the limit is on each of them.
      state: { ...state, turns: 0, idle: 0 },
    };
    // The first sections may be optional ones that have nothing to say.
    if (later.length > 0 && requiredOf(asked).length === 0 && isEmpty(content)) return next;
    // A single section may well be taken over as it was; the whole document may not.
    const check = checkContract(asked, content, later.length > 0 ? [] : judged.given);
    if (check.kind !== 'valid') {
      return askAgain(judged, describeProblems(check.problems), check.wrong);
    }
    if (later.length > 0) return next;
    const rendering = judged.tryRendering(content);
    if (rendering.kind === 'rendered') return accept(judged, content, rendering.body);
    const { reason, isTemplate } = rendering;
    if (isTemplate) return { kind: 'give-up', code: 'template_invalid', reason };
    return askAgain(judged, `- ${reason}`);
  }
  const cut = !finished || (parsed.kind === 'truncated' && text.trim() !== '');
  return cut ? goOn(judged, text) : askAgain(judged, `- ${parsed.problem}`);
}

/** The contract of what was asked for so far. */
function withoutLater(
  contract: ContractSchema,
  later: readonly string[],
  content: JsonRecord,
): ContractSchema {
  if (later.length === 0) return contract;
  const sections = sectionsOf(later);
  const open = sections.filter((key) => !Object.hasOwn(content, key));
  const required = requiredOf(contract).filter((key) => !open.includes(key));
  const properties = isRecord(contract['properties']) ? contract['properties'] : {};
  const begun = sections.flatMap((key): [string, ContractSchema][] => {
    const node = properties[key];
    const pieces = piecesOf(later, key);
    if (!isRecord(node) || pieces.length === 0) return [];
    // A document may need no guidance for the sections that were asked for so far.
    if (key === GUIDANCE_SECTION) return [[key, { type: 'array' }]];
    return [[key, { ...node, required: requiredOf(node).filter((one) => !pieces.includes(one)) }]];
  });
  return { ...contract, required, properties: { ...properties, ...Object.fromEntries(begun) } };
}

/** A spoilt ballot, a plan that does not add up or a wrong citation must not cost the lane its place. */
function accept(judged: JudgedAnswer, content: JsonRecord, body: string | null): Verdict {
  const { state } = judged;
  const { mended = 0, audits = 0, reruns = 0, uncited = 0 } = state;
  const defects = mended < MOST_MENDED ? judged.findDefects(content, body) : [];
  const { faults, isMendable, isUncited } = findFaults(judged, content, defects.length > 0);
  if (defects.length + faults.length === 0) return settle(judged, content, body);
  const messages = [...defects, ...faults.map(({ message }) => message)];
  return {
    kind: 'mend',
    problems: messages.map((message) => `- ${message}`).join('\n'),
    only: defects.length > 0 ? [] : sectionsWith(faults, judged.sections),
    state: {
      ...state,
      turns: state.turns + 1,
      idle: 0,
      ...(defects.length > 0 && { mended: mended + 1 }),
      ...(faults.length > 0 && (isMendable ? { audits: audits + 1 } : { reruns: reruns + 1 })),
      ...(isUncited && { uncited: uncited + 1 }),
    },
    ...(isUncited && { isUncited }),
    ...(faults.length > 0 && !isMendable && { unsupported: content }),
  };
}

/**
 * The faults of citation for which a document is asked for again. Statements without a source are none
 * by themselves once its writer was asked for that, or the run may not ask; with a request that is made
 * for another reason they go along. `isUncited`: the request is made for them alone.
 */
function findFaults(judged: JudgedAnswer, content: JsonRecord, isAskedAnyway: boolean) {
  const { state, citations, mostReruns = 0 } = judged;
  const { audits = 0, reruns = 0, uncited = 0, repairs } = state;
  const isMendable = audits + (sharesRepairs(judged) ? repairs : 0) < MOST_AUDITS;
  const isOpen = isMendable || (reruns < mostReruns && !sharesRepairs(judged));
  const found = isOpen ? (citations?.findFaults(content) ?? []) : [];
  const isUncited = found.length > 0 && found.every(({ code }) => code === 'uncited_statement');
  if (!isUncited || isAskedAnyway) return { faults: found, isMendable, isUncited: undefined };
  const mayAsk = citations?.asksForSources !== false;
  const isFirst = isMendable && uncited < MOST_UNCITED;
  const isAsked = mayAsk && (isFirst || reruns < mostReruns);
  return {
    faults: isAsked ? found : [],
    isMendable: isFirst,
    isUncited: isAsked ? (true as const) : undefined,
  };
}

const sharesRepairs = ({ citations }: Pick<JudgedAnswer, 'citations'>): boolean =>
  citations !== undefined && !citations.hasSources;

/** The sections to write again; none stands for the whole document. */
function sectionsWith(faults: readonly CitationFault[], sections: readonly string[]): string[] {
  const wrong = new Set(faults.map(({ section }) => section));
  return wrong.size < sections.length ? sections.filter((section) => wrong.has(section)) : [];
}

/** The document as it is kept. */
function settle(judged: JudgedAnswer, content: JsonRecord, body: string | null): Verdict {
  const settled = judged.citations?.settle(content) ?? content;
  if (settled === content) return { kind: 'document', content, body };
  const rendering = judged.tryRendering(settled);
  // What is put in place of a citation is about as long; a page that it makes too long is kept.
  if (rendering.kind !== 'rendered') return { kind: 'document', content, body };
  return { kind: 'document', content: settled, body: rendering.body };
}

/** The limits are on turns, on those that bring too little for their price, and on size. */
function goOn(judged: JudgedAnswer, text: string): Verdict {
  const { soFar, state, limit, countRead } = judged;
  const added = text.length - soFar.length;
  const turns = state.turns + 1;
  // Prose that begins no section of the contract is no progress, however long it is.
  const isBegun = hasSection(text, judged.sections);
  const idle = added >= LEAST_PROGRESS && isBegun ? 0 : state.idle + 1;
  const worth = Math.min(PLENTY, Math.max(LEAST_WORTH, countRead() / READ_FOR_ONE));
  const poor = (state.poor ?? 0) + (added < worth ? 1 : 0);
  const most = Math.min(limit.maxTurns, mostCalls(judged, text));
  const reason = [
    idle >= limit.maxIdleTurns &&
      `${idle} turns in a row brought ${isBegun ? 'nothing new' : 'no section of the contract'}.`,
    poor >= MOST_POOR && `${poor} of ${turns} turns added too little for what they had to read.`,
    turns >= most && `after ${turns} turns it still was not at its end.`,
    text.length >= limit.maxChars && `after ${text.length} characters it was not at its end.`,
  ].find(Boolean);
  if (reason) return { kind: 'give-up', code: 'continuation_exhausted', reason };
  return { kind: 'continue', state: { ...state, turns, poor, idle } };
}

/** Whether an object in the text names a section of the contract. */
function hasSection(text: string, sections: readonly string[]): boolean {
  const start = text.indexOf('{');
  if (sections.length === 0 || start < 0) return sections.length === 0;
  const isNamed = (name: string): boolean => text.includes(name, start);
  return sections.some((key) => [`"${key}"`, `'${key}'`, `${key}:`].some(isNamed));
}

/**
 * The calls that a document of its expected length can need. Every call reads the prompt again, so that
 * an answer without end would cost many times what was estimated.
 */
function mostCalls({ expected, state }: JudgedAnswer, text: string): number {
  if (expected === undefined) return Number.POSITIVE_INFINITY;
  const { chars, tokensAtOnce } = expected;
  const longest = MOST_OF_EXPECTED * chars;
  const { repairs, mended = 0, audits = 0, reruns = 0 } = state;
  const attempts = 1 + repairs + mended + audits + reruns;
  if (tokensAtOnce !== undefined) {
    const each = Math.ceil(longest / (CHARS_PER_TOKEN * tokensAtOnce));
    return Math.max(USUAL_CALLS, attempts * each);
  }
  return text.length < longest ? Number.POSITIVE_INFINITY : USUAL_CALLS;
}

function askAgain(judged: JudgedAnswer, problems: string, only: readonly string[] = []): Verdict {
  const { state } = judged;
  const shared = sharesRepairs(judged) ? (state.audits ?? 0) : 0;
  if (state.repairs + shared >= MOST_REPAIRS) {
    const reason = `after ${countNoun(state.repairs, 'request')} to correct it, this is still wrong:\n${problems}`;
    return { kind: 'give-up', code: 'model_output_invalid', reason };
  }
  const next = { ...state, turns: state.turns + 1, idle: 0, repairs: state.repairs + 1 };
  return { kind: 'repair', problems, only, state: next };
}

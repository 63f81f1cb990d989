import type { FinishReason } from '../models/types.ts';
import type { PlannedJob } from '../planning/types.ts';
import { joinChunks } from './join-chunks.ts';
import type { JsonRecord } from './json-reader.ts';
import { type ChainState, FIRST_TURN } from './judge-answer.ts';
import { keepOver } from './keep-over.ts';
import { parseOutput } from './parse-output.ts';
import type { Rerun } from './rerun.ts';
import type { NextTurn } from './turn-messages.ts';

/** The payload of an EXECUTE job; later links of its chain carry where it stands. */
export type ExecutePayload = {
  readonly planned: PlannedJob;
  readonly state?: ChainState;
  /** The chunk (from 1) with which the current attempt at the document begins. */
  readonly from?: number;
  /** What is wrong with that attempt, where the model is asked to write it again. */
  readonly problems?: string;
  /** The sections that are asked for, where those of earlier attempts stay; absent = all. */
  readonly only?: readonly string[];
  /** The sections that are asked for afterwards, in a window too small for all at once. */
  readonly later?: readonly string[];
  /** The attempts whose sections stay, in their order. */
  readonly kept?: readonly ChunkRange[];
  /** Documents that were not there when the job was planned, and what stands for them in the plan. */
  readonly awaits?: readonly {
    readonly identity: string;
    readonly documentId: string;
    readonly contributionId: string;
  }[];
  /** An attempt that fulfils the contract, for want of a better one. */
  readonly valid?: Attempt;
  /** How it is asked for since its writer failed to mend its citations. */
  readonly rerun?: Rerun;
  /** Set where it is asked for again only because too few statements cite a source. */
  readonly uncited?: true;
};

/** Chunks of a chain, the first and the last of them included. */
export type ChunkRange = { readonly from: number; readonly to: number };

/** An attempt at a document, with those of which it keeps sections. */
type Attempt = ChunkRange & { readonly kept?: readonly ChunkRange[] };

/** What one model call gave back, in the order of the chain. */
export type Chunk = {
  readonly id: string;
  readonly jobId: string;
  readonly ordinal: number;
  readonly finishReason: FinishReason;
  readonly text: string;
};

/** Where a chain stands when one of its jobs starts. */
export type Standing = {
  readonly state: ChainState;
  readonly from: number;
  readonly problems: string | null;
  /** The sections that are asked for; empty = all. */
  readonly only: readonly string[];
  /** The sections that are asked for afterwards. */
  readonly later: readonly string[];
  /** The attempts whose sections stay. */
  readonly kept: readonly ChunkRange[];
  /** The attempt that stands if the current one comes to nothing. */
  readonly valid: Attempt | null;
  readonly rerun: Rerun | null;
  /** Whether it is asked for again only because too few statements cite a source. */
  readonly isUncited: boolean;
  /** The text of the current attempt. */
  readonly soFar: string;
  /** The same text in the pieces that its chunks added. */
  readonly written: readonly string[];
};

/**
 * Where the chain stands. A job that has a chunk of its own gave up, and a person asked for it
 * again: it goes on from a text that was cut, and begins anew behind anything else.
 */
export function findStanding(
  jobId: string,
  payload: ExecutePayload,
  chunks: readonly Chunk[],
): Standing {
  const { state = FIRST_TURN, from = 1, problems = null, valid = null } = payload;
  const { only = [], later = [], kept = [], rerun = null } = payload;
  const own = chunks.find((chunk) => chunk.jobId === jobId);
  const isUncited = payload.uncited === true;
  const asked = { only, later, kept, valid, rerun, isUncited };
  if (!own) return { state, from, problems, ...asked, ...joinFrom(chunks, from) };
  const start = problems === null ? from : own.ordinal;
  const joined = joinFrom(chunks, start);
  const text = joined.soFar;
  const cut = parseOutput(text, { finished: false }).kind === 'truncated' && text !== '';
  const anew = !cut || chunks.at(-1)?.finishReason === 'content_filter';
  return anew
    ? { ...ANEW, valid, from: chunks.length + 1, soFar: '', written: [] }
    : { ...ANEW, ...asked, from: start, ...joined };
}

const ANEW = {
  state: FIRST_TURN,
  problems: null,
  only: [],
  later: [],
  kept: [],
  rerun: null,
  isUncited: false,
};

/** The sections that stay, from the attempts that brought them; the later one holds. */
export function keepSections(
  chunks: readonly Chunk[],
  kept: readonly ChunkRange[],
  sections: readonly string[],
): JsonRecord {
  const contents = kept.map(({ from, to }) => {
    const attempt = chunks.filter(({ ordinal }) => ordinal <= to);
    const parsed = parseOutput(joinFrom(attempt, from).soFar, { finished: true, sections });
    return parsed.kind === 'document' ? parsed.content : {};
  });
  return contents.reduce(keepOver, {});
}

/** Joins the chunks of an attempt, which begins with the named one. */
export function joinFrom(
  chunks: readonly Chunk[],
  from: number,
): Pick<Standing, 'soFar' | 'written'> {
  const pieces = chunks
    .filter(({ ordinal }) => ordinal >= from)
    .map(({ text, finishReason }) => ({ text, finished: finishReason === 'stop' }));
  const { text, added } = joinChunks(pieces);
  return { soFar: text, written: added };
}

/** What the next request asks for; null where the whole document has yet to be begun. */
export function nextTurn(standing: Standing): NextTurn | null {
  const { problems, only, later, soFar, written, rerun } = standing;
  const asked = { written, only, later, ...(rerun !== null && { rerun }) };
  if (problems !== null) return { kind: 'repair', problems, ...asked };
  if (soFar.trim() !== '') return { kind: 'continue', ...asked };
  return only.length === 0 ? null : { kind: 'part', ...asked, written: [] };
}

import type { Part } from '../context/fit-parts.ts';
import { LEFT_OUT } from '../context/shorten-text.ts';
import { assembleRequest } from '../generation/assemble-request.ts';
import { documentsOf } from '../generation/guidance.ts';
import type { JobInput } from '../generation/job-input.ts';
import { findSourceTexts } from '../generation/pack-sources.ts';
import type { ModelRequest } from '../models/types.ts';
import type { Assembled } from './assemble.ts';

/** A text of the request that may be shortened. */
export type Candidate = {
  readonly id: string;
  readonly label: string;
  readonly text: string;
  /** What a document counts in the recipe; it is worth this times what it says on the prompt. */
  readonly relevance?: number;
  /** What a turn of the conversation is worth. */
  readonly worth?: number;
};

/** What is known of the documents among the candidates: Recall, or a forecast of it. */
type Ranking = {
  /** How much a text has to say on the prompt, from 0 to about 1. */
  valueOf(text: string): number;
  /** By text: how many of its tokens are among the most wanted that the room has a place for. */
  deal(room: number): ReadonlyMap<string, number>;
};

/** Share of the room that is dealt to the most wanted parts; counts of joined parts differ a little. */
const DEALT = 0.98;

/** Names a document among the candidates; the same text under the same label is one. */
export const documentId = ({ order, label }: JobInput): string => `document ${order}/${label}`;
/** Names a text of a source among the candidates. */
export const sourceId = (id: string): string => `source ${id}`;
/** Names a part of the answer so far among the candidates. */
export const turnId = (index: number): string => `turn ${String(index).padStart(4, '0')}`;

/**
 * Whether a document may be shortened; what people said may not, and the plan of the stage only in
 * the smallest form of a request.
 */
export const isShortenable = ({ type }: JobInput, { form }: Pick<Assembled, 'form'>): boolean =>
  type === 'document' ||
  type === 'contribution' ||
  type === 'project_resource' ||
  (type === 'header_context' && form === 'spare');

/** Documents, resources and sources; what a prompt is given twice under one label is one candidate. */
export function findDocuments(assembled: Assembled): Candidate[] {
  const { sources, sourceLevels } = assembled;
  const shortenable = documentsOf(assembled).filter((input) => isShortenable(input, assembled));
  const found = shortenable.map((input) => ({
    id: documentId(input),
    label: input.label,
    text: input.text,
    relevance: relevanceOf(input, assembled),
  }));
  const cited = findSourceTexts(sources, sourceLevels).map(({ id, text }) => ({
    id: sourceId(id),
    label: id,
    text,
    relevance: 1,
  }));
  const all = [...cited, ...found];
  return [...new Map(all.map((one) => [one.id, one])).values()];
}

/** The guidance speaks of this document alone, and so counts more than any other text. */
const GUIDANCE_RELEVANCE = 2;

const relevanceOf = (input: JobInput, { step, guidance }: Assembled): number =>
  input === guidance
    ? GUIDANCE_RELEVANCE
    : (step.inputs.find(({ name }) => name === input.name)?.relevance ?? 1);

/**
 * Of a long answer that goes on all parts but the first and the last two, of which the newest counts
 * as much as a document that is half alike. An answer that is to be written again goes first.
 */
export function findTurns({ turn }: Assembled): Candidate[] {
  // Shown by its end alone, an answer has nothing left to shorten.
  if (turn === null || turn.complete !== undefined) return [];
  const turns = turn.written.map((text, index) => ({
    id: turnId(index),
    label: `part ${index + 1} of the answer so far`,
    text,
    worth: turn.kind === 'repair' ? 0 : index / turn.written.length / 2,
  }));
  return turn.kind === 'repair' ? turns : turns.slice(1, -2);
}

/** What the loop needs to know of each candidate. */
export function toParts(
  candidates: readonly Candidate[],
  ranking: Ranking,
  count: (text: string) => number,
  { total, room }: { readonly total: number; readonly room: number },
): Part[] {
  const sizes = candidates.map(({ text }) => count(text));
  const fixed = total - sizes.reduce((sum, size) => sum + size, 0);
  const dealt = ranking.deal(Math.max(0, room - fixed) * DEALT);
  const alike = Map.groupBy(candidates, ({ text }) => text);
  return candidates.map(({ id, text, relevance = 0, worth }, at) => ({
    id,
    tokens: sizes[at] ?? 0,
    value: worth ?? relevance * ranking.valueOf(text),
    // Documents with the same text share what was dealt to it.
    wanted:
      worth === undefined ? Math.floor((dealt.get(text) ?? 0) / (alike.get(text)?.length ?? 1)) : 0,
  }));
}

/** The request with other texts in place of the candidates that were shortened. */
export function replaceTexts(
  assembled: Assembled,
  texts: ReadonlyMap<string, string>,
): ModelRequest {
  const { turn, inputs, guidance, sources, sourceLevels, form } = assembled;
  const cited = findSourceTexts(sources, sourceLevels).flatMap(({ id }): [string, string][] => {
    const short = texts.get(sourceId(id));
    return short === undefined ? [] : [[id, short]];
  });
  const replace = (input: JobInput): JobInput => {
    const text = texts.get(documentId(input)) ?? input.text;
    // The smallest form names all that was left out in one line.
    return { ...input, text: form === 'spare' && text === LEFT_OUT ? '' : text };
  };
  return assembleRequest({
    ...assembled,
    shortSources: new Map(cited),
    inputs: inputs.map(replace),
    ...(guidance && { guidance: replace(guidance) }),
    turn: turn && {
      ...turn,
      shown: turn.written.map((text, index) => texts.get(turnId(index)) ?? text),
    },
  });
}

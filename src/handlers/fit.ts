import { fitParts, type Part, type Shortened } from '../context/fit-parts.ts';
import { Recall } from '../context/recall.ts';
import { roomForRequest } from '../context/room.ts';
import { findEmbedder } from '../context/sentence-embedder.ts';
import { DialecticError } from '../errors/errors.ts';
import { assembleRequest } from '../generation/assemble-request.ts';
import type { JobInput } from '../generation/job-input.ts';
import type { Job } from '../jobs/types.ts';
import { countInput, loadTokenCounter } from '../models/tokens.ts';
import type { ModelRequest } from '../models/types.ts';
import { findWindow } from '../models/windows.ts';
import type { Assembled } from './assemble.ts';
import type { HandlerDeps } from './handler-deps.ts';

/** A part that was shortened, as the call's record and the error name it. */
export type ShortenedPart = {
  readonly label: string;
  readonly tokens: number;
  readonly after: number;
};

/** What was assembled, in the model's window, with what had to be shortened for that. */
export type Fitted = Assembled & { readonly shortened: readonly ShortenedPart[] };

/** A text of the request that may be shortened. */
type Candidate = {
  readonly id: string;
  readonly label: string;
  readonly text: string;
  /** What a document counts in the recipe; it is worth this times what it says on the prompt. */
  readonly relevance?: number;
  /** What a turn of the conversation is worth. */
  readonly worth?: number;
};

/** Share of the room that is dealt to the most wanted parts; counts of joined parts differ a little. */
const DEALT = 0.98;

/**
 * Fits the request into the model's window. What fits is sent as it is. Else documents and the
 * middle of a long conversation are shortened by retrieval, the least valuable first; the
 * instructions, the request, feedback, the stage's plan and the last turns are never touched.
 */
export async function fit(
  { database, config, embedder = findEmbedder() }: HandlerDeps,
  { tenantId }: Pick<Job, 'tenantId'>,
  assembled: Assembled,
): Promise<Fitted> {
  const { request, session } = assembled;
  const room = roomForRequest(await findWindow(request.model, config));
  if (room === null || fitsSurely(request, room)) return { ...assembled, shortened: [] };
  const counter = await loadTokenCounter();
  const total = countInput(counter, request);
  if (total <= room) return { ...assembled, shortened: [] };
  const count = (text: string): number => counter.count(request.model, text);
  const prompt = request.messages[request.cacheablePrefixCount ?? 0]?.content ?? '';
  const place = { database, tenantId, projectId: session.projectId };
  const documents = findDocuments(assembled);
  const turns = findTurns(assembled);
  const given = { ...place, embedder, prompt, count };
  const recall = await Recall.over(
    given,
    documents.map(({ text }) => text),
  );
  const older = await Recall.over(
    given,
    turns.map(({ text }) => text),
  );
  const candidates = new Map([...documents, ...turns].map((one) => [one.id, one]));
  const sizes = new Map([...candidates].map(([id, { text }]) => [id, count(text)]));
  const fixed = total - [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const dealt = recall.deal(Math.max(0, room - fixed) * DEALT);
  const texts = new Map<string, string>();
  const { tried } = await fitParts({
    parts: [...candidates.values()].map(
      ({ id, text, relevance = 0, worth }): Part => ({
        id,
        tokens: sizes.get(id) ?? 0,
        value: worth ?? relevance * recall.valueOf(text),
        wanted: worth === undefined ? (dealt.get(text) ?? 0) : 0,
      }),
    ),
    total,
    room,
    shorten: async ({ id, tokens }, target) => {
      const { text = '', worth } = candidates.get(id) ?? {};
      const short = await (worth === undefined ? recall : older).shorten(text, target);
      const after = count(short);
      if (after < tokens) texts.set(id, short);
      return after;
    },
  });
  const fitted = replaceTexts(assembled, texts);
  const after = countInput(counter, fitted);
  const shortened = tried.map((one) => nameOf(one, candidates));
  if (after > room) throw tooLong(assembled, { total, after, room, shortened });
  return { ...assembled, request: fitted, shortened };
}

/** A token is at least one byte; so most requests need no tokenizer. */
function fitsSurely({ system, messages, schema }: ModelRequest, room: number): boolean {
  const texts = [system, ...messages.map(({ content }) => content), JSON.stringify(schema ?? '')];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) * 1.5 < room;
}

const documentId = ({ order, label }: JobInput): string => `document ${order}/${label}`;
const turnId = (index: number): string => `turn ${String(index).padStart(4, '0')}`;

/** Documents and resources; what a prompt is given twice under one label is one candidate. */
function findDocuments({ inputs, step }: Assembled): Candidate[] {
  return inputs
    .filter(({ type }) => type === 'document' || type === 'project_resource')
    .map((input) => ({
      id: documentId(input),
      label: input.label,
      text: input.text,
      relevance: step.inputs.find(({ name }) => name === input.name)?.relevance ?? 1,
    }));
}

/**
 * Of a long answer that goes on all parts but the first and the last two, of which the newest counts
 * as much as a document that is half alike. An answer that is to be written again goes first.
 */
function findTurns({ turn }: Assembled): Candidate[] {
  if (turn === null) return [];
  const turns = turn.written.map((text, index) => ({
    id: turnId(index),
    label: `part ${index + 1} of the answer so far`,
    text,
    worth: turn.kind === 'repair' ? 0 : index / turn.written.length / 2,
  }));
  return turn.kind === 'repair' ? turns : turns.slice(1, -2);
}

function replaceTexts(assembled: Assembled, texts: ReadonlyMap<string, string>): ModelRequest {
  const { turn } = assembled;
  return assembleRequest({
    ...assembled,
    inputs: assembled.inputs.map((input) => ({
      ...input,
      text: texts.get(documentId(input)) ?? input.text,
    })),
    turn: turn && {
      ...turn,
      written: turn.written.map((text, index) => texts.get(turnId(index)) ?? text),
    },
  });
}

const nameOf = (
  { id, tokens, after }: Shortened,
  candidates: ReadonlyMap<string, Candidate>,
): ShortenedPart => ({ label: candidates.get(id)?.label ?? id, tokens, after });

type Overflow = {
  readonly total: number;
  readonly after: number;
  readonly room: number;
  readonly shortened: readonly ShortenedPart[];
};

function tooLong(
  assembled: Assembled,
  { total, after, room, shortened }: Overflow,
): DialecticError {
  const { model } = assembled.request;
  const { stage, documentKey } = assembled.planned;
  const tried = shortened.map(({ label, ...one }) => `${label} ${one.tokens} → ${one.after}`);
  const message =
    `The prompt for ${stage}/${documentKey} has ${total} tokens, and ${model} takes ${room} beside ` +
    `its answer. Shortening left ${after}: ${tried.join(', ') || 'nothing may be shortened'}. ` +
    'The rest (instructions, request, feedback, plan) is never shortened.';
  const details = { model, tokens: total, left: after, room, shortened, sent: false };
  return new DialecticError('context_window_exceeded', message, { details });
}

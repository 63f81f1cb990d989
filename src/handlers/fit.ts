import { fitParts, type Part, type Shortened } from '../context/fit-parts.ts';
import { lexicalEmbedder } from '../context/lexical-embedder.ts';
import { Recall } from '../context/recall.ts';
import { rememberWith } from '../context/remember-with.ts';
import { roomForRequest } from '../context/room.ts';
import { LEFT_OUT } from '../context/shorten-text.ts';
import { DialecticError } from '../errors/errors.ts';
import { assembleRequest } from '../generation/assemble-request.ts';
import type { JobContext } from '../jobs/context.ts';
import { findPrice } from '../models/prices.ts';
import type { ModelRequest } from '../models/types.ts';
import { findWindow } from '../models/windows.ts';
import { onceFor } from '../text/memo.ts';
import { worstCase } from '../wallet/worst-case.ts';
import type { Assembled } from './assemble.ts';
import { chooseEmbedder } from './choose-embedder.ts';
import {
  type Candidate,
  findDocuments,
  findTurns,
  replaceTexts,
  toParts,
} from './context-parts.ts';
import type { HandlerDeps } from './handler-deps.ts';
import { listViews, type View } from './list-views.ts';
import { loadMeasure, type Measure } from './measure-request.ts';
import { watchReading } from './watch-reading.ts';

/** A part that was shortened, as the call's record and the error name it. */
export type ShortenedPart = {
  readonly label: string;
  readonly tokens: number;
  readonly after: number;
};

/** What was assembled, in the model's window, with what had to be shortened for that. */
export type Fitted = Assembled & { readonly shortened: readonly ShortenedPart[] };

/** How often a request is counted as a whole, where its parts came to more than each for itself. */
const MOST_ROUNDS = 5;

/**
 * Fits the request into the model's window. What fits is sent as it is. Else documents and the
 * middle of a long conversation are shortened by retrieval, the least valuable first; the
 * instructions, the request, feedback, the task and the last turns are never touched. Where those
 * and the stage's plan are too long, the request takes a smaller form (`listViews`).
 */
export async function fit(
  deps: HandlerDeps,
  context: Pick<JobContext, 'job' | 'signal' | 'stopping'>,
  assembled: Assembled,
): Promise<Fitted> {
  const { request } = assembled;
  const window = await findWindow(request.model, deps.config);
  const room = roomForRequest(window);
  if (room === null || fitsSurely(request, room)) return { ...assembled, shortened: [] };
  const measure = await loadMeasure(deps.database, context.job.tenantId, request.model);
  if (measure.countRequest(request) <= room) return { ...assembled, shortened: [] };
  let refusal: DialecticError | undefined;
  for (const view of listViews(assembled, measure, window)) {
    // Without embedding a text, which may cost money.
    if (view.least > view.room) refusal = neverFits(view, measure);
    else {
      const fitted = await shortenParts(deps, context, view, measure);
      if (!(fitted instanceof DialecticError)) return fitted;
      refusal = fitted;
    }
  }
  throw refusal;
}

/** Shortens the parts of one form of the request; the error where that is not enough. */
async function shortenParts(
  deps: HandlerDeps,
  context: Pick<JobContext, 'job' | 'signal' | 'stopping'>,
  { assembled, room }: View,
  measure: Measure,
): Promise<Fitted | DialecticError> {
  const { count } = measure;
  const total = measure.countRequest(assembled.request);
  if (total <= room) return { ...assembled, shortened: [] };
  const documents = findDocuments(assembled);
  const turns = findTurns(assembled);
  const { recall, older } = await readParts(deps, context, assembled, {
    room,
    count,
    documents,
    turns,
  });
  const candidates = new Map([...documents, ...turns].map((one) => [one.id, one]));
  const texts = new Map<string, string>();
  const parts = toParts([...candidates.values()], recall, count, { total, room });
  const shorten = async ({ id, tokens }: Part, target: number): Promise<number> => {
    const { text = '', worth } = candidates.get(id) ?? {};
    const short = await (worth === undefined ? recall : older).shorten(text, target);
    const after = count(short);
    if (after < tokens) texts.set(id, short);
    return after;
  };
  // Parts are counted one by one: each is rounded up, and together they may have more tokens.
  for (let [aim, rounds] = [room, 1]; ; rounds++) {
    const { tried, total: foreseen } = await fitParts({ parts, total, room: aim, shorten });
    const fitted = replaceTexts(assembled, texts);
    const after = measure.countRequest(fitted);
    const shortened = tried.map((one) => nameOf(one, candidates));
    if (after <= room) {
      await Promise.all([recall.save(), older.save()]);
      return { ...assembled, request: fitted, shortened };
    }
    if (foreseen > aim || rounds === MOST_ROUNDS) {
      return tooLong(assembled, { total, after, room, shortened });
    }
    // Twice what is too much: a part that is shortened instead of another differs by a few tokens.
    aim -= 2 * (after - room);
  }
}

type Readable = {
  readonly room: number;
  readonly count: (text: string) => number;
  readonly documents: readonly Candidate[];
  readonly turns: readonly Candidate[];
};

/** Embeds and ranks the parts of documents and turns. Long ones take a while, and can be stopped. */
async function readParts(
  deps: HandlerDeps,
  context: Pick<JobContext, 'job' | 'signal' | 'stopping'>,
  assembled: Assembled,
  { room, count, documents, turns }: Readable,
): Promise<{ readonly recall: Recall; readonly older: Recall }> {
  const { database, config } = deps;
  const { session, planned, request } = assembled;
  const { projectId, id: sessionId } = session;
  const { model } = request;
  const promptMicros = worstCase(await findPrice(model, config), room, 0).usdMicros;
  const titles = documents.map(({ label }) => label);
  return watchReading(deps, context, { session, planned, titles }, async (reading) => {
    const demand = { model, projectId, promptMicros };
    const memory = chooseEmbedder(deps, context, demand, reading);
    const place = { database, tenantId: context.job.tenantId, projectId, sessionId };
    const given = { ...place, ...memory, ...reading, prompt: taskOf(assembled), count };
    const recall = await Recall.over(given, textsOf(documents));
    // Every turn adds to them: compared by their words, they cost no embedding.
    const remember = rememberWith(place, lexicalEmbedder, { signal: reading.signal });
    const byWords = { ...given, embedder: lexicalEmbedder, remember };
    return { recall, older: await Recall.over(byWords, textsOf(turns)) };
  });
}

/** A form of which even the least is too long, with what its parts would have come to. */
function neverFits({ assembled, room, least }: View, measure: Measure): DialecticError {
  const total = measure.countRequest(assembled.request);
  const candidates = [...findDocuments(assembled), ...findTurns(assembled)];
  const shortened = candidates.map(({ label, text }) => {
    const tokens = measure.count(text);
    return { label, tokens, after: Math.min(tokens, measure.count(LEFT_OUT)) };
  });
  return tooLong(assembled, { total, after: least, room, shortened });
}

/**
 * What documents are compared with: the task, with the guidance wherever that stands, without what a
 * single turn says, so that the turns of an answer need no embedding of their own.
 */
export const taskOf = ({ guidance: _packed, ...assembled }: Assembled): string =>
  promptOf(assembleRequest({ ...assembled, turn: null }));

/** What the step asks for: the first message behind those that calls share. */
export const promptOf = ({ messages, cacheablePrefixCount = 0 }: ModelRequest): string =>
  messages[cacheablePrefixCount]?.content ?? '';

const textsOf = (candidates: readonly Candidate[]): string[] => candidates.map(({ text }) => text);

/** A token is at least one byte; so most requests need no tokenizer. */
function fitsSurely({ system, messages, schema }: ModelRequest, room: number): boolean {
  const texts = [system, ...messages.map(({ content }) => content)];
  const shape = schema ? bytesOf(schema) : 2;
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), shape) * 1.5 < room;
}

const bytesOf = onceFor((schema: object) => Buffer.byteLength(JSON.stringify(schema)));

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
  const asked = assembled.portions?.join(', ');
  const form = asked === undefined ? '' : `, asked for ${asked} alone,`;
  const tried = shortened.map(({ label, ...one }) => `${label} ${one.tokens} → ${one.after}`);
  const message =
    `The prompt for ${stage}/${documentKey}${form} has ${total} tokens, and ${model} takes ${room} beside ` +
    `its answer. Shortening left ${after}: ${tried.join(', ') || 'nothing may be shortened'}. ` +
    'The rest (instructions, request, feedback, task) is never shortened.';
  const details = { model, tokens: total, left: after, room, shortened, sent: false };
  return new DialecticError('context_window_exceeded', message, { details });
}

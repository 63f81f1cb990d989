import { fitParts } from '../context/fit-parts.ts';
import { forecast } from '../context/forecast.ts';
import { digestOf, findEmbedded } from '../context/memory.ts';
import { roomForRequest } from '../context/room.ts';
import { searchByWords } from '../context/search-texts.ts';
import { findEmbedder } from '../context/sentence-embedder.ts';
import { inReadingOrder } from '../generation/assemble-request.ts';
import { documentsOf } from '../generation/guidance.ts';
import type { JobInput } from '../generation/job-input.ts';
import { findSourceTexts, SOURCES_HEADING, TEXTS_HEADING } from '../generation/pack-sources.ts';
import type { Job } from '../jobs/types.ts';
import { findPrice } from '../models/prices.ts';
import { remoteEmbeddings } from '../models/remote-embeddings.ts';
import { loadTokenCounter } from '../models/tokens.ts';
import { findWindow, type ModelWindow } from '../models/windows.ts';
import { worstCase } from '../wallet/worst-case.ts';
import { type Assembled, assemble } from './assemble.ts';
import { attendSources } from './attend-sources.ts';
import {
  documentId,
  findDocuments,
  findTurns,
  isShortenable,
  sourceId,
  toParts,
  turnId,
} from './context-parts.ts';
import { promptOf, taskOf } from './fit.ts';
import type { HandlerDeps } from './handler-deps.ts';
import { listViews } from './list-views.ts';
import { type Loaded, load } from './load.ts';
import { type Counting, loadMeasure, type Measure } from './measure-request.ts';
import { embeddingModel } from './remember-by-calls.ts';

/** One part of a request, in the order in which the model reads it. */
type ContextPart = {
  readonly kind: 'instructions' | 'request' | 'document' | 'stage' | 'task' | 'turn' | 'framing';
  readonly label: string;
  readonly tokens: number;
  /** Null for what is never shortened. */
  readonly value: number | null;
  /** From 1: when it is shortened. Null for what is never shortened. */
  readonly order: number | null;
  /** About how many tokens would be left of it; as many as it has where nothing has to go. */
  readonly after: number;
};

/** What a request is made of, and what would be shortened for it to fit. */
export type ContextPlan = {
  readonly stage: string;
  readonly document: string;
  readonly lane: number;
  readonly model: string;
  readonly window: ModelWindow;
  /** Tokens that the request may have beside its answer; null where the window is unknown. */
  readonly room: number | null;
  readonly tokens: number;
  /** About how many it would have when it is sent. */
  readonly after: number;
  /** `reduced`: in a smaller form, with some sections or the end of the answer so far alone. */
  readonly fits: 'whole' | 'shortened' | 'reduced' | 'never';
  /** The portions that it asks for in that form; the others follow. Absent = all. */
  readonly portions?: readonly string[];
  readonly counting: Counting;
  readonly parts: readonly ContextPart[];
  readonly embedding: {
    readonly model: string;
    /** Texts that were not embedded before; 0 where nothing has to be shortened. */
    readonly texts: number;
    readonly tokens: number;
    readonly costUsd: number;
  };
};

/**
 * Plans the next request of a job without sending it, storing anything or embedding a text: documents
 * are ranked by their words alone. For a job that is over it is the request that it began with.
 */
export async function planContext(
  deps: Pick<HandlerDeps, 'database' | 'config' | 'embedder'>,
  job: Job,
  isOver: boolean,
): Promise<ContextPlan> {
  const { database, config } = deps;
  const loaded = await attendSources(deps, { job }, await load(database, job), searchByWords);
  const whole = assemble(isOver ? fromStart(loaded) : loaded);
  const window = await findWindow(whole.request.model, config);
  const measure = await loadMeasure(database, job.tenantId, whole.request.model);
  const { method, factor, errorShare, calls } = measure;
  const { assembled, room } = chooseView(whole, measure, window);
  const { request, planned, session, portions } = assembled;
  const tokens = measure.countRequest(request);
  const { targets, values, order, pieces } = await foresee(assembled, measure, { room, tokens });
  const parts = listParts(assembled, measure, tokens).map(({ id, ...part }): ContextPart => {
    const value = values.get(id) ?? null;
    const after = targets.get(id) ?? part.tokens;
    return { ...part, value, order: order.get(id) ?? null, after };
  });
  const after = parts.reduce((sum, part) => sum + part.after, 0);
  const isTooLong = room !== null && tokens > room;
  const lane = session.lanes.find(({ id }) => id === planned.laneId)?.ordinal ?? 0;
  return {
    stage: planned.stage,
    document: planned.documentKey,
    lane,
    model: request.model,
    window,
    room,
    tokens,
    after,
    fits:
      isTooLong && after > room
        ? 'never'
        : assembled !== whole
          ? 'reduced'
          : isTooLong
            ? 'shortened'
            : 'whole',
    ...(portions && { portions }),
    counting: { method, factor, errorShare, calls },
    parts,
    embedding: await weighEmbedding(deps, job, isTooLong ? pieces : [], request.model),
  };
}

/** The form in which the request would be sent: the fullest that can be made to fit. */
function chooseView(
  whole: Assembled,
  measure: Measure,
  window: ModelWindow,
): { readonly assembled: Assembled; readonly room: number | null } {
  const room = roomForRequest(window);
  if (room === null || measure.countRequest(whole.request) <= room) {
    return { assembled: whole, room };
  }
  const views = [...listViews(whole, measure, window)];
  return (
    views.find((view) => view.least <= view.room) ?? views.at(-1) ?? { assembled: whole, room }
  );
}

const fromStart = (loaded: Loaded): Loaded => {
  const nothing = { problems: null, soFar: '', written: [] };
  return { ...loaded, chunks: [], turn: null, standing: { ...loaded.standing, ...nothing } };
};

/** Which candidates the loop would shorten, in its order, to how many tokens. */
async function foresee(
  assembled: Assembled,
  { count }: Measure,
  { room, tokens }: { readonly room: number | null; readonly tokens: number },
) {
  const documents = findDocuments(assembled);
  const candidates = [...documents, ...findTurns(assembled)];
  const texts = documents.map(({ text }) => text);
  const ranking = await forecast(taskOf(assembled), texts, count);
  const bound = { total: tokens, room: room ?? tokens };
  const parts = toParts(candidates, ranking, count, bound);
  const { tried } = await fitParts({ parts, ...bound, shorten: async (_, target) => target });
  const ordered = parts.toSorted((a, b) => a.value - b.value || (a.id < b.id ? -1 : 1));
  return {
    targets: new Map(tried.map(({ id, after }) => [id, after])),
    values: new Map(parts.map(({ id, value }) => [id, value])),
    order: new Map(ordered.map(({ id }, at) => [id, at + 1])),
    pieces: ranking.pieces,
  };
}

type ListedPart = Pick<ContextPart, 'kind' | 'label' | 'tokens'> & { readonly id: string };

/** The parts of a request in its order; their tokens add up to it. */
function listParts(assembled: Assembled, { count }: Measure, tokens: number): ListedPart[] {
  const { request, turn } = assembled;
  const shared = request.messages.slice(0, request.cacheablePrefixCount ?? 0);
  const list = (
    kind: ContextPart['kind'],
    label: string,
    text: string,
    id = label,
  ): ListedPart => ({
    id,
    kind,
    label,
    tokens: count(text),
  });
  const listDocument = (input: JobInput): [string, ListedPart] => {
    const id = isShortenable(input, assembled) ? documentId(input) : `fixed ${documentId(input)}`;
    return [id, list('document', input.label, input.text, id)];
  };
  const all = inReadingOrder({ ...assembled, inputs: documentsOf(assembled) });
  const given = all.flatMap(({ inputs }) => inputs.map(listDocument));
  const documents = [...new Map(given).values()];
  const [first, ...others] = shared;
  const sources = findSourceTexts(assembled.sources, assembled.sourceLevels);
  const middle = others.flatMap(({ content }) => {
    if (content.startsWith('# Documents')) {
      return documents.splice(0, content.match(/^<(?:document|feedback) /gm)?.length ?? 0);
    }
    if (content.startsWith(TEXTS_HEADING)) {
      return sources.map(({ id, text }) => list('document', id, text, sourceId(id)));
    }
    const isList = content.startsWith(SOURCES_HEADING);
    return [list(isList ? 'request' : 'stage', isList ? 'list of sources' : 'stage', content)];
  });
  const listed = [
    list('instructions', 'instructions', request.system),
    ...(first ? [list('request', 'request', first.content)] : []),
    ...middle,
    list('task', 'task', promptOf(request)),
    ...(turn?.written ?? []).map((text, at) =>
      list('turn', `part ${at + 1} of the answer so far`, text, turnId(at)),
    ),
  ];
  const rest = tokens - listed.reduce((sum, part) => sum + part.tokens, 0);
  return [...listed, { id: '', kind: 'framing', label: 'framing and schema', tokens: rest }];
}

/** What has to be embedded first. An embedder that runs in this process costs nothing. */
async function weighEmbedding(
  {
    database,
    config,
    embedder = findEmbedder(),
  }: Pick<HandlerDeps, 'database' | 'config' | 'embedder'>,
  { tenantId }: Job,
  pieces: readonly string[],
  author: string,
): Promise<ContextPlan['embedding']> {
  const remote = remoteEmbeddings(config, author);
  const model = remote === undefined ? embedder.model : embeddingModel(remote, config);
  const counter = await loadTokenCounter();
  const digests = pieces.map((text) => digestOf(text));
  const known = await database.asTenant(tenantId, (tx) => findEmbedded(tx, model, digests));
  const missing = pieces.filter((_, at) => !known.has(digests[at] ?? ''));
  const tokens = missing.reduce((sum, text) => sum + counter.count(remote ?? author, text), 0);
  const price = remote === undefined ? null : await findPrice(remote, config);
  const costUsd = worstCase(price, tokens, 0).usdMicros / 1e6;
  return { model, texts: missing.length, tokens, costUsd };
}

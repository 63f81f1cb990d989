import { LEAST_ANSWER_SHARE, roomForRequest, SPARE_ANSWER_SHARES } from '../context/room.ts';
import { LEFT_OUT } from '../context/shorten-text.ts';
import { assembleRequest } from '../generation/assemble-request.ts';
import { guidanceDocument } from '../generation/guidance.ts';
import { findComplete } from '../generation/outline-written.ts';
import type { NextTurn } from '../generation/turn-messages.ts';
import type { ModelWindow } from '../models/windows.ts';
import { expandPortions, portionsOf, splitPortion } from '../recipe/portions.ts';
import type { Assembled } from './assemble.ts';
import { findDocuments, findTurns, replaceTexts } from './context-parts.ts';
import type { Measure } from './measure-request.ts';

/** One of the forms that a request may take. */
export type View = {
  readonly assembled: Assembled;
  /** Tokens that it may have. */
  readonly room: number;
  /** Tokens that it has when all that may be shortened is: what can never be less. */
  readonly least: number;
};

/** Half the usual answer: the conversation as it was is worth a shorter turn. */
const SHORTER_ANSWER_SHARE = 1 / 8;
/** So much of the room is kept for documents, where sections can be left for later instead. */
const DOCUMENT_SHARE = 1 / 4;
/** Tokens that going on with an answer takes beside its task: its end, and the request to go on. */
const GOING_ON = 240;

/**
 * The forms of a request for one window, the fullest first: as it is; an answer that goes on, shown
 * by its end alone and asked for its open sections alone; a document that is begun or mended, asked
 * for in as many of its sections as leave room for its documents. The last ones leave the least room
 * for the answer, and the very last lets go of all that is neither rule nor request nor task: there
 * the guidance for the document, which comes from the stage's plan, is one of its documents.
 */
export function* listViews(
  assembled: Assembled,
  measure: Pick<Measure, 'count' | 'countRequest'>,
  window: ModelWindow,
): Generator<View> {
  const roomBeside = (share?: number): number =>
    roomForRequest(window, share) ?? Number.POSITIVE_INFINITY;
  const view = (form: Assembled, room: number): View => {
    return { assembled: form, room, least: countLeast(form, measure) };
  };
  const [usual, most] = [roomBeside(), roomBeside(LEAST_ANSWER_SHARE)];
  const spareRooms = SPARE_ANSWER_SHARES.map(roomBeside);
  yield view(assembled, usual);
  const { turn } = assembled;
  if (turn?.kind === 'continue') {
    yield view(assembled, roomBeside(SHORTER_ANSWER_SHARE));
    const complete = findComplete(turn.written.join(''), askedOf(assembled));
    const byEnd = withTurn(assembled, { ...turn, complete });
    yield view(byEnd, usual);
    const open = askedOf(assembled).filter((key) => !complete.includes(key));
    const byOpen = withTurn({ ...assembled, portions: open }, { ...turn, complete });
    yield view(byOpen, usual);
    yield view(byOpen, most);
    const spare = { ...assembled, form: 'spare' as const, portions: open };
    const terse = withTurn(spare, { ...turn, complete, isTerse: true });
    for (const room of spareRooms) yield view(terse, room);
    return;
  }
  yield view(narrow(assembled, measure, usual), usual);
  const [first = '', ...others] = askedOf(assembled);
  const spare = { ...assembled, form: 'spare' as const };
  // An answer that is cut must find room to go on, with the same task.
  const canGoOn = (keys: readonly string[], many: number): boolean =>
    countLeast(askFor(spare, keys, many), measure) <= most - GOING_ON;
  const pieces = splitPortion(assembled.stage, assembled.step, first);
  const asked = askedOf(assembled);
  if (pieces.length === 1 || canGoOn(asked, 1)) {
    yield view(askFor({ ...assembled, form: 'bare' }, asked, 1), most);
  }
  const keys = [...pieces, ...others];
  const many = countFitting(pieces.length, (count) => canGoOn(keys, count));
  const fewest = askFor(spare, keys, many);
  for (const room of spareRooms) yield view(fewest, room);
}

/** The portions that a request asks for. */
const askedOf = ({ stage, step, turn }: Assembled): readonly string[] => {
  const only = turn?.only ?? [];
  return only.length > 0 ? expandPortions(stage, step, only) : portionsOf(stage, step);
};

/** The request for the first so many of these portions. */
function askFor(assembled: Assembled, keys: readonly string[], many: number): Assembled {
  const only = keys.slice(0, many);
  const rest = [...keys.slice(many), ...(assembled.turn?.later ?? [])];
  const later = [...new Set(rest)].filter((key) => !only.includes(key));
  const { turn } = assembled;
  // What was written is of no use to a document that is written again.
  const next: NextTurn =
    turn?.kind === 'repair'
      ? { ...turn, written: [], only, later }
      : { kind: 'part', written: [], only, later };
  return withTurn({ ...assembled, portions: only }, next);
}

/** The request for as many portions as its room allows beside some of its documents. */
function narrow(
  assembled: Assembled,
  measure: Pick<Measure, 'count' | 'countRequest'>,
  room: number,
): Assembled {
  const documents = findDocuments(assembled).reduce((sum, one) => sum + measure.count(one.text), 0);
  const most = room - Math.min(documents, room * DOCUMENT_SHARE);
  const keys = askedOf(assembled);
  const many = countFitting(
    keys.length,
    (count) => countLeast(askFor(assembled, keys, count), measure) <= most,
  );
  return askFor(assembled, keys, many);
}

/** The highest number that fits, where more never fit better; 1 at least. */
function countFitting(all: number, doFit: (count: number) => boolean): number {
  let [fits, fails] = [1, all + 1];
  while (fails - fits > 1) {
    const middle = (fits + fails) >> 1;
    if (doFit(middle)) fits = middle;
    else fails = middle;
  }
  return fits;
}

function withTurn(assembled: Assembled, turn: NextTurn): Assembled {
  // The task is never shortened: what may be, in the smallest form, has to stand outside of it.
  const guidance = assembled.form === 'spare' ? guidanceDocument(assembled) : undefined;
  const next = { ...assembled, turn, ...(guidance && { guidance }) };
  return { ...next, request: assembleRequest(next) };
}

function countLeast(
  assembled: Assembled,
  { count, countRequest }: Pick<Measure, 'count' | 'countRequest'>,
): number {
  const least = count(LEFT_OUT);
  const long = [...findDocuments(assembled), ...findTurns(assembled)].filter(
    ({ text }) => count(text) > least,
  );
  return countRequest(replaceTexts(assembled, new Map(long.map(({ id }) => [id, LEFT_OUT]))));
}

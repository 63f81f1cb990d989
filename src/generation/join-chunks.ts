import { isRecord, readJson } from './json-reader.ts';

/** What became of a chunk that was meant to go on from the text so far. */
type Joint =
  | {
      readonly kind: 'joined';
      readonly text: string;
      /** Characters at the chunk's start that were there already. */
      readonly repeated: number;
      /** Characters that the chunk added. */
      readonly added: number;
    }
  | {
      /** It starts anew, or is a document of its own: nothing of it is taken. */
      readonly kind: 'refused';
      readonly text: string;
    };

/** One answer of a chain. */
export type Piece = {
  readonly text: string;
  /** Whether the model itself ended it. */
  readonly finished: boolean;
};

type Assembly = {
  readonly text: string;
  /** What each chunk added to the text, in order; repetitions and refused chunks add nothing. */
  readonly added: readonly string[];
};

/** How far back a repetition is looked for. */
const WINDOW = 8_000;
/** Shorter repetitions happen by chance; they count only where syntax needs them. */
const LEAST_REPEATED = 20;
const LEAST_INK = 12;
/** A chunk that begins like the whole for so long starts anew. */
const LEAST_RESTART = 48;
const ANCHOR = 40;
const LONGEST_PREAMBLE = 400;
/** How a model begins that talks before it goes on. */
const TALK = /^\W*(sure|certainly|of course|okay|here|continu|resum|picking up|i.ll|i will)/i;

/** Puts the chunks of a continuation chain together; a refused one adds nothing. */
export function joinChunks(chunks: readonly Piece[]): Assembly {
  const added: string[] = [];
  let text = '';
  for (const chunk of chunks) {
    const joint = joinChunk(text, chunk.text, chunk.finished);
    added.push(joint.text.slice(text.length));
    text = joint.text;
  }
  return { text, added };
}

/**
 * Joins one chunk to the text so far. Asked to go on from the last characters, a model does so,
 * or repeats some of them first, or starts anew, or writes another document that it knows of.
 * Repetition is cut away; a new start is refused, unless it repeats everything word for word and
 * goes on from there; so is another document, for which it helps to know that the model
 * `finished` the chunk by itself.
 */
export function joinChunk(soFar: string, chunk: string, finished = false): Joint {
  if (soFar === '') return joined(soFar, chunk, 0);
  const open = isOpenJson(soFar);
  const next = open ? withoutFence(soFar, chunk) : chunk;
  const dropped = chunk.length - next.length;
  if (isRestart(soFar, next, open)) return { kind: 'refused', text: soFar };
  const all = next.startsWith(soFar) && (open || isTelling(soFar));
  const repeated = all ? soFar.length : findRepeated(soFar, next, open);
  if (open && repeated === 0 && isOther(soFar, next, finished)) {
    return { kind: 'refused', text: soFar };
  }
  return joined(soFar, chunk, dropped + repeated);
}

function joined(soFar: string, chunk: string, repeated: number): Joint {
  const added = chunk.length - repeated;
  return { kind: 'joined', text: soFar + chunk.slice(repeated), repeated, added };
}

/**
 * Whether a chunk is an object of its own: one that cannot begin where the text stops, or one
 * that the model holds for the end although the text stays open, and whose keys are new.
 */
function isOther(soFar: string, next: string, finished: boolean): boolean {
  const start = /^\s*\{\s*"/.exec(next)?.[0];
  if (start === undefined) return false;
  const whole = readJson(soFar + next, Math.max(0, startOfJson(soFar)));
  if (whole.kind === 'malformed') return whole.at <= soFar.length + start.length;
  const own = readJson(next);
  if (!finished || whole.kind !== 'truncated' || own.kind !== 'value') return false;
  if (next.slice(own.end).trim() !== '' || !isRecord(own.value)) return false;
  const { content } = own.value;
  const keys = Object.keys(isRecord(content) ? content : own.value);
  return keys.filter((key) => soFar.includes(`"${key}"`)).length <= keys.length / 2;
}

const startOfJson = (text: string): number =>
  /^\s*(?:`{3,}\w*\s*)?(?=\{)/.exec(text)?.[0].length ?? -1;

/** Whether the text is a JSON object that is not closed yet. */
function isOpenJson(text: string): boolean {
  const start = startOfJson(text);
  return start >= 0 && readJson(text, start).kind === 'truncated';
}

function staysJson(text: string): boolean {
  return readJson(text, Math.max(0, startOfJson(text))).kind !== 'malformed';
}

/** A fence around the chunk is packing, unless it stands in a string that is open. */
function withoutFence(soFar: string, chunk: string): string {
  const inner = chunk.replace(/^\s*`{3,}\w*[ \t]*\r?\n/, '');
  return inner === chunk || staysJson(soFar + chunk) ? chunk : inner;
}

function isRestart(soFar: string, next: string, open: boolean): boolean {
  const [whole, anew] = [soFar.trimStart(), next.trimStart()];
  const common = commonPrefix(whole, anew);
  if (common === whole.length && anew.length > whole.length) return false;
  if (common === anew.length) return anew.length >= LEAST_RESTART;
  if (common >= LEAST_RESTART) return true;
  const key = firstKey(whole);
  return open && key !== undefined && key === firstKey(anew) && !staysJson(soFar + next);
}

const firstKey = (text: string): string | undefined =>
  /^(?:`{3,}\w*\s*)?\{\s*"([^"]+)"\s*:/.exec(text)?.[1];

function commonPrefix(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let n = 0;
  while (n < most && a.charCodeAt(n) === b.charCodeAt(n)) n++;
  return n;
}

/** How many characters of the chunk are there already. */
function findRepeated(soFar: string, next: string, open: boolean): number {
  const tail = soFar.slice(-WINDOW);
  const head = next.slice(0, WINDOW);
  const sizes = overlaps(tail, head);
  const sure = sizes.find((size) => isTelling(head.slice(0, size)));
  if (sure !== undefined) {
    const needed = open && !staysJson(soFar + next.slice(sure)) && staysJson(soFar + next);
    return needed ? 0 : sure;
  }
  const preamble = findBehindPreamble(tail, head);
  if (preamble > 0) return preamble;
  if (!open || sizes.length === 0 || staysJson(soFar + next)) return 0;
  return sizes.find((size) => staysJson(soFar + next.slice(size))) ?? 0;
}

const isTelling = (text: string): boolean =>
  text.length >= LEAST_REPEATED && text.replace(/\s/g, '').length >= LEAST_INK;

/** All lengths at which the end of one text is the beginning of the other, longest first. */
function overlaps(tail: string, head: string): number[] {
  const borders = new Int32Array(head.length);
  for (let at = 1, k = 0; at < head.length; at++) {
    while (k > 0 && head.charCodeAt(at) !== head.charCodeAt(k)) k = borders[k - 1]!;
    if (head.charCodeAt(at) === head.charCodeAt(k)) k++;
    borders[at] = k;
  }
  let k = 0;
  for (let at = 0; at < tail.length; at++) {
    while (k > 0 && (k === head.length || tail.charCodeAt(at) !== head.charCodeAt(k))) {
      k = borders[k - 1]!;
    }
    if (tail.charCodeAt(at) === head.charCodeAt(k)) k++;
  }
  const sizes: number[] = [];
  for (; k > 0; k = borders[k - 1]!) sizes.push(k);
  return sizes;
}

/** "Continuing where I left off: …the last words…": what stands before them is talk. */
function findBehindPreamble(tail: string, head: string): number {
  const anchor = tail.slice(-ANCHOR);
  if (anchor.length < ANCHOR || !isTelling(anchor) || !TALK.test(head)) return 0;
  const at = head.slice(0, LONGEST_PREAMBLE + ANCHOR).indexOf(anchor);
  return at < 0 ? 0 : at + ANCHOR;
}

import { readJson } from './json-reader.ts';

/** What became of a chunk that was meant to go on from the text so far. */
export type Joint =
  | {
      readonly kind: 'joined';
      readonly text: string;
      /** Characters at the chunk's start that were there already. */
      readonly repeated: number;
      /** Characters that the chunk added. */
      readonly added: number;
      /** False where the text was a beginning of JSON and no longer is one. */
      readonly fits: boolean;
    }
  | { readonly kind: 'restarted'; readonly text: string };

/** The assembled text and which chunks were refused because they started anew. */
export type Assembly = { readonly text: string; readonly restarted: readonly number[] };

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

/** Puts the chunks of a continuation chain together; a restart adds nothing. */
export function joinChunks(chunks: readonly string[]): Assembly {
  const restarted: number[] = [];
  let text = chunks[0] ?? '';
  for (const [index, chunk] of chunks.entries()) {
    if (index === 0) continue;
    const joint = joinChunk(text, chunk);
    text = joint.text;
    if (joint.kind === 'restarted') restarted.push(index);
  }
  return { text, restarted };
}

/**
 * Joins one chunk to the text so far. Asked to go on from the last characters, a model does so,
 * or repeats some of them first, or starts anew. Repetition is cut away; a new start is refused,
 * unless it repeats everything word for word and goes on from there.
 */
export function joinChunk(soFar: string, chunk: string): Joint {
  if (soFar === '') return joined(soFar, chunk, 0, true);
  const open = isOpenJson(soFar);
  const next = open ? withoutFence(soFar, chunk) : chunk;
  const dropped = chunk.length - next.length;
  if (isRestart(soFar, next, open)) return { kind: 'restarted', text: soFar };
  const all = next.startsWith(soFar) && (open || isTelling(soFar));
  const repeated = all ? soFar.length : findRepeated(soFar, next, open);
  const fits = !open || staysJson(soFar + next.slice(repeated));
  return joined(soFar, chunk, dropped + repeated, fits);
}

function joined(soFar: string, chunk: string, repeated: number, fits: boolean): Joint {
  const added = chunk.length - repeated;
  return { kind: 'joined', text: soFar + chunk.slice(repeated), repeated, added, fits };
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

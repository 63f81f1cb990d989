/** A part of a request that may be shortened. */
export type Part = {
  readonly id: string;
  readonly tokens: number;
  /** What it is worth to this request; the lowest goes first. */
  readonly value: number;
  /** Tokens of it that are wanted more than anything the room has no place for. */
  readonly wanted: number;
};

/** What became of one part. */
export type Shortened = Part & { readonly target: number; readonly after: number };

type Fitting = {
  readonly parts: readonly Part[];
  /** Tokens of the whole request, the parts included. */
  readonly total: number;
  /** Tokens that the request may have. */
  readonly room: number;
  /** Shortens a part to a number of tokens and tells how many it has then. */
  readonly shorten: (part: Part, target: number) => Promise<number>;
};

/** Targets are of a few sizes only, so that requests that are much alike share what was made. */
const SHARES = [3 / 4, 1 / 2, 1 / 3, 1 / 4, 1 / 6, 1 / 8, 1 / 12, 1 / 16, 1 / 24, 1 / 32, 1 / 64];

/**
 * Shortens one part at a time, the least valuable first, until the request fits or none is left. A
 * part is shortened once and only as far as is needed; the total never grows.
 */
export async function fitParts(fitting: Fitting): Promise<{ total: number; tried: Shortened[] }> {
  const { parts, room, shorten } = fitting;
  const tried: Shortened[] = [];
  let total = fitting.total;
  for (const part of parts.toSorted(byValue)) {
    if (total <= room) break;
    const target = targetOf(part, total - room);
    const after = Math.min(part.tokens, await shorten(part, target));
    total -= part.tokens - after;
    tried.push({ ...part, target, after });
  }
  return { total, tried };
}

const byValue = (a: Part, b: Part): number => a.value - b.value || (a.id < b.id ? -1 : 1);

/** As much as may stay if all the rest goes from this part, but not less than is wanted of it. */
function targetOf({ tokens, wanted }: Part, excess: number): number {
  const share = (tokens - excess) / Math.max(1, tokens);
  const coarse = Math.floor(tokens * (SHARES.find((one) => one <= share) ?? 0));
  return Math.max(coarse, Math.min(wanted, tokens - 1));
}

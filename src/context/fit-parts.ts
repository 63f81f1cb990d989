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
 * part is shortened only as far as is needed and keeps what is wanted of it; where that is not enough,
 * a second round lets go of that too. The total never grows.
 */
export async function fitParts(fitting: Fitting): Promise<{ total: number; tried: Shortened[] }> {
  const { parts, room, shorten } = fitting;
  const tried = new Map<string, Shortened>();
  let total = fitting.total;
  const shortenAll = async (keep: (part: Part) => number): Promise<void> => {
    for (const part of parts.toSorted(byValue)) {
      if (total <= room) return;
      const before = tried.get(part.id)?.after ?? part.tokens;
      const target = targetOf(part.tokens, before - (total - room), keep(part));
      if (target >= before) continue;
      const after = Math.min(before, await shorten(part, target));
      total -= before - after;
      tried.set(part.id, { ...part, target, after });
    }
  };
  await shortenAll(({ wanted }) => wanted);
  await shortenAll(() => 0);
  return { total, tried: [...tried.values()] };
}

const byValue = (a: Part, b: Part): number => a.value - b.value || (a.id < b.id ? -1 : 1);

/** The largest of the few sizes that is not above what may stay, but not less than is kept. */
function targetOf(tokens: number, stay: number, keep: number): number {
  const share = stay / Math.max(1, tokens);
  const coarse = Math.floor(tokens * (SHARES.find((one) => one <= share) ?? 0));
  return Math.max(coarse, Math.min(keep, tokens - 1));
}

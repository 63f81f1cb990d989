import { toLine } from '../text/clean-text.ts';

/** What is known of a source when it is found. */
export type SourceDraft = {
  readonly title: string;
  readonly url?: string;
  readonly doi?: string;
  readonly isbn?: string;
  readonly author?: string;
  readonly publisher?: string;
  readonly year?: number;
  /** What was read of it: the whole text, or the passages that were found. */
  readonly excerpts: readonly string[];
  /** Why it could not be checked; absent where it was, or needed no check. */
  readonly degraded?: string;
};

/** A draft whose title, names and address are one line each, wherever they will be shown. */
export function withLines(draft: SourceDraft): SourceDraft {
  const fields = Object.entries(draft).map(([field, value]): [string, unknown] => [
    field,
    typeof value === 'string' ? toLine(value) : value,
  ]);
  return Object.fromEntries(fields) as SourceDraft;
}

/** A source with the id that documents cite; the id never changes. */
export type Source = SourceDraft & {
  readonly id: string;
  /** What makes it the same source when it is found again. */
  readonly key: string;
  /** The source that stands for it since the two were found to be the same. */
  readonly aliasOf?: string;
};

/** Where a source is cited. */
export type Citation = {
  readonly kind: 'finding' | 'cluster' | 'contradiction' | 'section';
  /** The finding, or the document and its section. */
  readonly place: string;
};

/** The id of the nth source that was admitted. */
export const idOf = (ordinal: number): string => `S${ordinal}`;

/** The number in an id; undefined for what is none. */
export function ordinalOf(id: string): number | undefined {
  return /^S[1-9]\d*$/.test(id) ? Number(id.slice(1)) : undefined;
}

/**
 * Two drafts of one source as one: nothing is replaced by less, and every excerpt is kept. Where the
 * source could not be read before, a draft of one that was read is worth more, its title above all.
 */
export function mergeDrafts(known: SourceDraft, found: SourceDraft): SourceDraft {
  const isRead = known.degraded !== undefined && found.degraded === undefined;
  const more = isRead ? withoutBlanks(found) : lacking(known, found);
  const { degraded, ...sound } = { ...said(known), ...more };
  const excerpts = [...new Set([...known.excerpts, ...found.excerpts])];
  // One sound look at it is enough.
  const isSound = [known, found].some((one) => one.degraded === undefined);
  return { ...sound, excerpts, ...(!isSound && degraded !== undefined && { degraded }) };
}

/** Whether a draft tells what is not known yet, so that the two merged would say more. */
export function isMore(known: SourceDraft, found: SourceDraft): boolean {
  if (known.degraded !== undefined && found.degraded === undefined) return true;
  if (found.excerpts.some((text) => !known.excerpts.includes(text))) return true;
  const { degraded: _, ...said } = found;
  return Object.keys(lacking(known, said)).length > 0;
}

const isBlank = (value: unknown): boolean => value === undefined || value === '';

const withoutBlanks = (draft: SourceDraft): Partial<SourceDraft> =>
  Object.fromEntries(Object.entries(draft).filter(([, value]) => !isBlank(value)));

const said = (draft: SourceDraft): SourceDraft => ({
  ...withoutBlanks(draft),
  title: draft.title,
  excerpts: draft.excerpts,
});

/** What the one says and the other does not. */
const lacking = (known: SourceDraft, found: SourceDraft): Partial<SourceDraft> => {
  const before = new Map<string, unknown>(Object.entries(known));
  const more = Object.entries(found).filter(([name]) => isBlank(before.get(name)));
  return Object.fromEntries(more.filter(([, value]) => !isBlank(value)));
};

import { DialecticError } from '../errors/errors.ts';
import { keyOfDraft, onceForTexts } from './long-texts.ts';
import { createNearDuplicates, type NearDuplicates, type NearMethod } from './near-duplicates.ts';
import { compareWith } from './shingles.ts';
import {
  type Citation,
  idOf,
  isMore,
  mergeDrafts,
  ordinalOf,
  type Source,
  type SourceDraft,
  withLines,
} from './source.ts';

/**
 * A record of the log: a source with the signature of its text, more about one, an alias or its end, or
 * a citation.
 */
export type Entry =
  | { readonly key: string; readonly near?: string; readonly source: SourceDraft }
  | { readonly more: number; readonly source: SourceDraft }
  | { readonly alias: number; readonly of: number | null }
  | { readonly cited: number; readonly by: Citation };

/** Makes a record last, and has the index apply it. */
type Write = (entry: Entry, signature?: Uint32Array) => void;

/** A source whose text is nearly that of another. */
export type Near = { readonly id: string; readonly likeness: number };

/** Texts that share so many of their runs of three words are worth a look. */
export const SUGGESTED = 0.8;

/** When texts are held to be nearly the same. */
export type Likeness = {
  /** Texts that share so many of their runs of three words are named as nearly the same; 0.8. */
  readonly suggestAt?: number;
  /** From this likeness on a new source becomes an alias by itself; absent = never. */
  readonly mergeAt?: number;
};

/** What became of a draft. */
export type Registered = {
  readonly id: string;
  /** Whether it was not known before. */
  readonly isNew: boolean;
  /** Earlier sources with nearly the same text, the nearest first. */
  readonly near: readonly Near[];
  /** Its own id, where it became an alias of the nearest one by itself: `split` takes that back. */
  readonly alias?: string;
};

/** So many texts are compared with a new one, however many may resemble it. */
const MOST_COMPARED = 64;

/**
 * What a log of sources says, by key and by number. Memory holds keys and places alone; texts stay in
 * the log, from where `readAt` gives them.
 */
export class SourceIndex {
  readonly #readAt: (place: number) => Entry;
  readonly #ordinals = new Map<string, number>();
  /** The places of a source's records, the first of them its admission. */
  readonly #places: (number | number[])[] = [];
  readonly #aliases = new Map<number, number>();
  /** The aliases of a source. */
  readonly #named = new Map<number, Set<number>>();
  /** For a source that was an alias until somebody took that back: those that stood for it. */
  readonly #splitFrom = new Map<number, ReadonlySet<number>>();
  readonly #citations = new Map<number, Citation[]>();
  readonly #method: NearMethod;
  /** Made when it is first asked for, unless the records have signatures. */
  #near: NearDuplicates | undefined;

  /** Records that are read have signatures by `signed`, so that no text is read to find what is near. */
  constructor(readAt: (place: number) => Entry, signed?: NearMethod) {
    this.#readAt = readAt;
    this.#method = signed ?? 'min-hash';
    if (signed !== undefined) this.#near = createNearDuplicates(signed);
  }

  get size(): number {
    return this.#places.length;
  }

  /** Takes a record of the log in; a signature that was just made need not be decoded. */
  apply(entry: Entry, place: number, signature?: Uint32Array): void {
    if ('key' in entry) {
      this.#places.push(place);
      this.#ordinals.set(entry.key, this.#places.length);
      this.#near?.add(this.#places.length, signature ?? this.#signatureOf(this.#near, entry));
    } else if ('more' in entry) {
      const before = this.#places[entry.more - 1] ?? [];
      this.#places[entry.more - 1] = [before, place].flat();
    } else if ('cited' in entry) {
      const known = this.#citations.get(entry.cited) ?? [];
      this.#citations.set(entry.cited, [...known, entry.by]);
    } else this.#alias(entry.alias, entry.of);
  }

  /** Admits a draft, or adds what is new to a source that is known; `write` takes the records in. */
  admit(found: SourceDraft, likeness: Likeness, write: Write): Registered {
    const draft = withLines(found);
    const { suggestAt = SUGGESTED, mergeAt } = likeness;
    const key = keyOfDraft(draft);
    const known = this.#ordinals.get(key);
    if (known !== undefined) {
      if (isMore(this.own(known), draft)) write({ more: known, source: draft });
      return { id: idOf(this.standing(known)), isNew: false, near: [] };
    }
    const index = this.#nearIndex();
    const signature = this.#sign(index, draft);
    const near = this.#compare(draft, index.find(signature), suggestAt);
    const ordinal = this.size + 1;
    write({ key, near: encode(this.#method, signature), source: draft }, signature);
    const [nearest] = near;
    if (nearest === undefined || mergeAt === undefined || nearest.likeness < mergeAt) {
      return { id: idOf(ordinal), isNew: true, near };
    }
    write({ alias: ordinal, of: this.require(nearest.id) });
    return { id: idOf(this.standing(ordinal)), isNew: true, near, alias: idOf(ordinal) };
  }

  /** The record that makes a source an alias of another. */
  merge(id: string, into: string): Entry {
    const [alias, of] = [this.require(id), this.require(into)];
    if (this.standing(of) === this.standing(alias)) {
      throw new DialecticError('usage_invalid', `${id} and ${into} are one source already.`);
    }
    return { alias, of };
  }

  /** The number of an id; an id that no source has is refused. */
  require(id: string): number {
    const ordinal = ordinalOf(id);
    if (ordinal !== undefined && ordinal <= this.size) return ordinal;
    const there = this.size === 0 ? 'there are none' : `there are S1 to S${this.size}`;
    throw new DialecticError('not_found', `There is no source ${id}; ${there}.`);
  }

  #alias(alias: number, of: number | null): void {
    const before = this.#aliases.get(alias);
    if (before !== undefined) this.#named.get(before)?.delete(alias);
    if (of === null) {
      if (before !== undefined) this.#keepApart(alias, before);
      return void this.#aliases.delete(alias);
    }
    this.#aliases.set(alias, of);
    this.#named.set(of, (this.#named.get(of) ?? new Set()).add(alias));
  }

  #keepApart(alias: number, before: number): void {
    const known = this.#splitFrom.get(alias) ?? [];
    this.#splitFrom.set(alias, new Set([...known, ...this.#stoodFor(before)]));
  }

  /** A source and what it is an alias of, up to the one that stands for itself. */
  #stoodFor(ordinal: number): number[] {
    const of = this.#aliases.get(ordinal);
    return of === undefined ? [ordinal] : [ordinal, ...this.#stoodFor(of)];
  }

  /** The sources that stood for this one until somebody took that back. */
  splitFrom(ordinal: number): readonly number[] {
    return [...(this.#splitFrom.get(ordinal) ?? [])];
  }

  /** Whether somebody has said that two sources are not one. */
  isSplit(one: number, other: number): boolean {
    const of = (a: number, b: number) => this.#splitFrom.get(a)?.has(b) ?? false;
    return of(one, other) || of(other, one);
  }

  /** A source with what is known of its aliases; an alias with the source that stands for it. */
  get(ordinal: number): Source {
    const { key } = this.#admission(ordinal);
    const of = this.#aliases.get(ordinal);
    const alias = of === undefined ? {} : { aliasOf: idOf(this.standing(of)) };
    const draft = this.#sameAs(ordinal)
      .map((one) => this.own(one))
      .reduce(mergeDrafts);
    return { ...draft, id: idOf(ordinal), key, ...alias };
  }

  /** A source and all that are aliases of it, itself first. */
  #sameAs(ordinal: number): number[] {
    const named = [...(this.#named.get(ordinal) ?? [])];
    return [ordinal, ...named.flatMap((one) => this.#sameAs(one))];
  }

  find(key: string): number | undefined {
    const ordinal = this.#ordinals.get(key);
    return ordinal === undefined ? undefined : this.standing(ordinal);
  }

  /** The source that another was made an alias of, which may be an alias itself. */
  aliasOf(ordinal: number): number | null {
    return this.#aliases.get(ordinal) ?? null;
  }

  /** The source that stands for another, or itself. */
  standing(ordinal: number): number {
    const of = this.#aliases.get(ordinal);
    return of === undefined ? ordinal : this.standing(of);
  }

  /** Where a source and its aliases are cited. */
  citationsOf(ordinal: number): Citation[] {
    return this.#sameAs(ordinal).flatMap((one) => this.#citations.get(one) ?? []);
  }

  /** Sources whose text is nearly this one, the nearest first. */
  findNear(draft: Pick<SourceDraft, 'excerpts'>, least: number): Near[] {
    const index = this.#nearIndex();
    return this.#compare(draft, index.find(this.#sign(index, draft)), least);
  }

  /** Those of the candidates whose texts are so much alike, the nearest first. */
  #compare(
    draft: Pick<SourceDraft, 'excerpts'>,
    candidates: readonly number[],
    least: number,
  ): Near[] {
    if (candidates.length === 0) return [];
    const likenessTo = compareWith(textOf(draft));
    return candidates
      .slice(0, MOST_COMPARED)
      .map((one) => ({ id: idOf(one), likeness: likenessTo(textOf(this.own(one))) }))
      .filter(({ likeness }) => likeness >= least)
      .toSorted((a, b) => b.likeness - a.likeness);
  }

  #nearIndex(): NearDuplicates {
    if (this.#near !== undefined) return this.#near;
    const near = createNearDuplicates(this.#method);
    for (let ordinal = 1; ordinal <= this.size; ordinal++) {
      near.add(ordinal, this.#signatureOf(near, this.#admission(ordinal)));
    }
    this.#near = near;
    return near;
  }

  /** As the record has it, or made anew where it was made in another way. */
  #signatureOf(near: NearDuplicates, entry: { near?: string; source: SourceDraft }): Uint32Array {
    return decode(this.#method, entry.near) ?? this.#sign(near, entry.source);
  }

  #sign(near: NearDuplicates, { excerpts }: Pick<SourceDraft, 'excerpts'>): Uint32Array {
    // A copy: the method may use its array again.
    const sign = () => near.sign(textOf({ excerpts })).slice();
    return onceForTexts(excerpts, `signature ${this.#method}`, sign);
  }

  #admission(ordinal: number) {
    const [first = 0] = [this.#places[ordinal - 1] ?? 0].flat();
    const entry = this.#readAt(first);
    if (!('key' in entry)) throw new Error(`No source was admitted at byte ${first}.`);
    return entry;
  }

  /** All that the records of a source say together, its aliases apart. */
  own(ordinal: number): SourceDraft {
    const [, ...more] = [this.#places[ordinal - 1] ?? 0].flat();
    return more
      .map((place) => this.#readAt(place))
      .reduce(
        (known, entry) => ('source' in entry ? mergeDrafts(known, entry.source) : known),
        this.#admission(ordinal).source,
      );
  }
}

const textOf = ({ excerpts }: Pick<SourceDraft, 'excerpts'>): string => excerpts.join('\n');

/** A signature as a record holds it: how it was made, and its numbers. */
const encode = (method: NearMethod, { buffer, byteOffset, byteLength }: Uint32Array): string =>
  `${method}:${Buffer.from(buffer, byteOffset, byteLength).toString('base64')}`;

function decode(method: NearMethod, signature: string | undefined): Uint32Array | undefined {
  if (signature?.startsWith(`${method}:`) !== true) return undefined;
  const bytes = Buffer.from(signature.slice(method.length + 1), 'base64');
  // A copy, since the bytes may begin where no number can.
  return new Uint32Array(new Uint8Array(bytes).buffer);
}

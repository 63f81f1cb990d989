import { DialecticError } from '../errors/errors.ts';
import { canonicalKey } from './canonical-key.ts';
import { createNearDuplicates, type NearDuplicates, type NearMethod } from './near-duplicates.ts';
import { likenessOf } from './shingles.ts';
import {
  type Citation,
  idOf,
  mergeDrafts,
  ordinalOf,
  type Source,
  type SourceDraft,
} from './source.ts';

/** A record of the log: a source, more about one, an alias or its end, or a citation. */
export type Entry =
  | { readonly key: string; readonly source: SourceDraft }
  | { readonly more: number; readonly source: SourceDraft }
  | { readonly alias: number; readonly of: number | null }
  | { readonly cited: number; readonly by: Citation };

/** A source whose text is nearly that of another. */
export type Near = { readonly id: string; readonly likeness: number };

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
  readonly #citations = new Map<number, Citation[]>();
  /** Made when it is first asked for: reading a log needs none. */
  #near: NearDuplicates | undefined;
  readonly #method: NearMethod | undefined;

  constructor(readAt: (place: number) => Entry, method?: NearMethod) {
    this.#readAt = readAt;
    this.#method = method;
  }

  get size(): number {
    return this.#places.length;
  }

  /** Takes a record of the log in. */
  apply(entry: Entry, place: number): void {
    if ('key' in entry) {
      this.#places.push(place);
      this.#ordinals.set(entry.key, this.#places.length);
      this.#near?.add(this.#places.length, textOf(entry.source));
    } else if ('more' in entry) {
      const before = this.#places[entry.more - 1] ?? [];
      this.#places[entry.more - 1] = [before, place].flat();
    } else if ('cited' in entry) {
      const known = this.#citations.get(entry.cited) ?? [];
      this.#citations.set(entry.cited, [...known, entry.by]);
    } else this.#alias(entry.alias, entry.of);
  }

  /** Admits a draft, or adds what is new to a source that is known; `write` takes the records in. */
  admit(draft: SourceDraft, likeness: Likeness, write: (entry: Entry) => void): Registered {
    const { suggestAt = 0.8, mergeAt } = likeness;
    const { ordinal, entry } = this.place(draft);
    const isNew = ordinal > this.size;
    const near = isNew ? this.findNear(draft.excerpts.join('\n'), suggestAt) : [];
    if (entry !== null) write(entry);
    const [nearest] = near;
    if (nearest && mergeAt !== undefined && nearest.likeness >= mergeAt) {
      write({ alias: ordinal, of: this.require(nearest.id) });
    }
    return { id: idOf(this.standing(ordinal)), isNew, near };
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

  /** What a draft means for the log: a new source, more about a known one, or nothing. */
  place(draft: SourceDraft): { readonly ordinal: number; readonly entry: Entry | null } {
    const key = canonicalKey(draft);
    const known = this.#ordinals.get(key);
    if (known === undefined) return { ordinal: this.size + 1, entry: { key, source: draft } };
    const before = this.own(known);
    const isMore = JSON.stringify(mergeDrafts(before, draft)) !== JSON.stringify(before);
    return { ordinal: known, entry: isMore ? { more: known, source: draft } : null };
  }

  #alias(alias: number, of: number | null): void {
    const before = this.#aliases.get(alias);
    if (before !== undefined) this.#named.get(before)?.delete(alias);
    if (of === null) return void this.#aliases.delete(alias);
    this.#aliases.set(alias, of);
    this.#named.set(of, (this.#named.get(of) ?? new Set()).add(alias));
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

  /** Sources before this one whose text is nearly the same, the nearest first. */
  findNear(text: string, least: number, before = this.size + 1): Near[] {
    const candidates = this.#nearIndex().find(text);
    return candidates
      .filter((one) => one < before)
      .slice(0, MOST_COMPARED)
      .map((one) => ({ id: idOf(one), likeness: likenessOf(text, textOf(this.own(one))) }))
      .filter(({ likeness }) => likeness >= least)
      .toSorted((a, b) => b.likeness - a.likeness);
  }

  #nearIndex(): NearDuplicates {
    if (this.#near !== undefined) return this.#near;
    this.#near = createNearDuplicates(this.#method);
    for (let ordinal = 1; ordinal <= this.size; ordinal++) {
      this.#near.add(ordinal, textOf(this.#admission(ordinal).source));
    }
    return this.#near;
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

const textOf = ({ excerpts }: SourceDraft): string => excerpts.join('\n');

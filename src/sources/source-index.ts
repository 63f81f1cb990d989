import { canonicalKey } from './canonical-key.ts';
import { createNearDuplicates, type NearDuplicates, type NearMethod } from './near-duplicates.ts';
import { likenessOf } from './shingles.ts';
import { type Citation, idOf, mergeDrafts, type Source, type SourceDraft } from './source.ts';

/** A record of the log: a source, more about one, an alias or its end, or a citation. */
export type Entry =
  | { readonly key: string; readonly source: SourceDraft }
  | { readonly more: number; readonly source: SourceDraft }
  | { readonly alias: number; readonly of: number | null }
  | { readonly cited: number; readonly by: Citation };

/** A source whose text is nearly that of another. */
export type Near = { readonly id: string; readonly likeness: number };

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

  /** What a draft means for the log: a new source, more about a known one, or nothing. */
  place(draft: SourceDraft): { readonly ordinal: number; readonly entry: Entry | null } {
    const key = canonicalKey(draft);
    const known = this.#ordinals.get(key);
    if (known === undefined) return { ordinal: this.size + 1, entry: { key, source: draft } };
    const before = this.#read(known);
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
      .map((one) => this.#read(one))
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
      .map((one) => ({ id: idOf(one), likeness: likenessOf(text, textOf(this.#read(one))) }))
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

  /** All that the records of a source say together. */
  #read(ordinal: number): SourceDraft {
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

import { idOf, ordinalOf, type Source, type SourceDraft } from './source.ts';
import {
  type Entry,
  type Likeness,
  type Near,
  type Registered,
  SourceIndex,
  SUGGESTED,
} from './source-index.ts';
import { lengthOf, SOURCE_LIMITS, tooLong, tooMuch } from './source-limits.ts';

/** A source as it is stored: what was said of it itself, without its aliases. */
export type StoredSource = {
  readonly key: string;
  readonly draft: SourceDraft;
  /** The number of the source that stands for it; null where it stands for itself. */
  readonly aliasOf: number | null;
  /** The numbers of those that stood for it until somebody took that back. */
  readonly splitFrom: readonly number[];
};

/** The sources of one project in memory, by the rules of every registry (SourceIndex). */
export class SourceSet {
  readonly #entries: Entry[] = [];
  /** How long all texts are together. */
  #characters = 0;
  /** Every part of a prompt asks for them, and there may be thousands; until something changes. */
  #standing: readonly Source[] | undefined;
  readonly #index = new SourceIndex((place) => this.#entries[place]!);
  /** The numbers of the sources that were changed since they were read. */
  readonly changed = new Set<number>();

  /** Takes stored sources, in the order of their ids. */
  constructor(stored: readonly StoredSource[] = []) {
    for (const { key, draft } of stored) this.#write({ key, source: draft });
    // As it was said: that the one is the other, and then that it is not.
    for (const [at, { splitFrom }] of stored.entries()) {
      for (const of of splitFrom) {
        this.#write({ alias: at + 1, of });
        this.#write({ alias: at + 1, of: null });
      }
    }
    for (const [at, { aliasOf }] of stored.entries()) {
      if (aliasOf !== null) this.#write({ alias: at + 1, of: aliasOf });
    }
  }

  /** How many sources there are, aliases among them. */
  get size(): number {
    return this.#index.size;
  }

  /**
   * Admits a draft, or adds what is new to the source that it is; refuses what is longer than a project
   * may have. The set is of no use then.
   */
  admit(draft: SourceDraft, likeness: Likeness = {}): Registered {
    const length = lengthOf(draft.excerpts);
    if (length > SOURCE_LIMITS.each) throw tooLong(draft.title, length);
    const before = this.#characters;
    const registered = this.#index.admit(draft, likeness, (entry) => this.#change(entry));
    const all = this.#characters;
    if (all > before && all > SOURCE_LIMITS.together) throw tooMuch(draft.title, all);
    return registered;
  }

  /** Makes a source an alias of another. */
  merge(id: string, into: string): void {
    this.#change(this.#index.merge(id, into));
  }

  /** Makes an alias a source of its own again. */
  split(id: string): void {
    this.#change({ alias: this.#index.require(id), of: null });
  }

  /** The source of an id, with what is known of its aliases; undefined where there is none. */
  readonly find = (id: string): Source | undefined => {
    const ordinal = ordinalOf(id);
    return ordinal === undefined || ordinal > this.size ? undefined : this.#index.get(ordinal);
  };

  /** The same; an id that no source has is refused. */
  require(id: string): Source {
    return this.#index.get(this.#index.require(id));
  }

  /** The ids of all sources, in their order. */
  get ids(): string[] {
    return Array.from({ length: this.size }, (_, at) => idOf(at + 1));
  }

  /** All sources, in the order of their ids. */
  get all(): Source[] {
    return this.ids.map((id) => this.require(id));
  }

  /** The sources that stand for themselves, in the order of their ids. */
  get standing(): readonly Source[] {
    this.#standing ??= this.all.filter(({ aliasOf }) => aliasOf === undefined);
    return this.#standing;
  }

  /**
   * For each source that is nearly an earlier one, the nearest of those. Aliases are left out, and pairs
   * that somebody has split.
   */
  get near(): readonly (Near & { readonly of: string })[] {
    const standing = this.standing;
    const places = new Map(standing.map(({ id }, at) => [id, at]));
    return standing.flatMap(({ id: of, excerpts }, own) => {
      const near = this.#index.findNear({ excerpts }, SUGGESTED);
      const [nearest] = near.filter(
        ({ id }) => (places.get(id) ?? own) < own && !this.#isSplit(id, of),
      );
      return nearest ? [{ ...nearest, of }] : [];
    });
  }

  #isSplit(one: string, other: string): boolean {
    return this.#index.isSplit(this.#index.require(one), this.#index.require(other));
  }

  /** What is to be stored of a source. */
  stored(ordinal: number): StoredSource {
    const { key } = this.#index.get(ordinal);
    return {
      key,
      draft: this.#index.own(ordinal),
      aliasOf: this.#index.aliasOf(ordinal),
      splitFrom: this.#index.splitFrom(ordinal),
    };
  }

  #change(entry: Entry): void {
    this.#write(entry);
    if ('key' in entry) this.changed.add(this.size);
    if ('more' in entry) this.changed.add(entry.more);
    if ('alias' in entry) this.changed.add(entry.alias);
  }

  #write(entry: Entry): void {
    if ('source' in entry) {
      const known = 'more' in entry ? this.#index.own(entry.more).excerpts : [];
      this.#characters += lengthOf(entry.source.excerpts.filter((text) => !known.includes(text)));
    }
    this.#standing = undefined;
    this.#entries.push(entry);
    this.#index.apply(entry, this.#entries.length - 1);
  }
}

import { FolderLock } from './folder-lock.ts';
import type { NearMethod } from './near-duplicates.ts';
import { type Citation, idOf, ordinalOf, type Source, type SourceDraft } from './source.ts';
import {
  type Entry,
  type Likeness,
  type Near,
  type Registered,
  SourceIndex,
  SUGGESTED,
} from './source-index.ts';
import { SourceLog } from './source-log.ts';

export type RegistryOptions = Likeness & {
  /** How near duplicates are looked for; `min-hash`. */
  readonly near?: NearMethod;
};

/** A change that waits to be written with others. */
type Change = { readonly make: () => void; readonly fail: (reason: unknown) => void };

/**
 * The sources of one piece of work, in a folder: each with an id that never changes, in the order in
 * which they were admitted. Several processes may register at once; changes that are asked for at the
 * same time are written together, and each is on the disk when its promise resolves.
 */
export class SourceRegistry {
  readonly #log: SourceLog;
  readonly #lock: FolderLock;
  readonly #index: SourceIndex;
  readonly #options: RegistryOptions;
  #waiting: Change[] = [];
  #writing: Promise<void> | null = null;
  #failure: unknown;

  private constructor(folder: string, options: RegistryOptions) {
    this.#lock = new FolderLock(folder);
    this.#log = new SourceLog(folder);
    const readAt = (place: number): Entry => parse(this.#log.readAt(place));
    this.#index = new SourceIndex(readAt, options.near ?? 'min-hash');
    this.#options = options;
  }

  /** Opens the registry in a folder, or makes one there. */
  static async open(folder: string, options: RegistryOptions = {}): Promise<SourceRegistry> {
    const registry = new SourceRegistry(folder, options);
    await registry.refresh();
    return registry;
  }

  /** How many sources there are, aliases among them. */
  get size(): number {
    return this.#index.size;
  }

  /** Reads what other processes have registered. */
  async refresh(): Promise<void> {
    await this.#lock.hold(async () => this.#readNew());
  }

  /** Admits a source, or adds what is new to one that is known. */
  register(draft: SourceDraft): Promise<Registered> {
    return this.#change(() =>
      this.#index.admit(draft, this.#options, (entry, signed) => this.#write(entry, signed)),
    );
  }

  /** Makes a source an alias of another. */
  merge(id: string, into: string): Promise<void> {
    return this.#change(() => this.#write(this.#index.merge(id, into)));
  }

  /** Makes an alias a source of its own again. */
  split(id: string): Promise<void> {
    return this.#change(() => this.#write({ alias: this.#index.require(id), of: null }));
  }

  /** Notes where a source is cited. */
  cite(id: string, by: Citation): Promise<void> {
    return this.#change(() => this.#write({ cited: this.#index.require(id), by }));
  }

  /** Where a source and its aliases are cited, in the order in which it was noted. */
  citationsOf(id: string): readonly Citation[] {
    return this.#index.citationsOf(this.#index.require(id));
  }

  /** The source of an id; undefined where there is none. */
  get(id: string): Source | undefined {
    const ordinal = ordinalOf(id);
    return ordinal === undefined || ordinal > this.size ? undefined : this.#index.get(ordinal);
  }

  /** The source with this key, by the id that stands for it. */
  findByKey(key: string): string | undefined {
    const ordinal = this.#index.find(key);
    return ordinal === undefined ? undefined : idOf(ordinal);
  }

  /** Sources with nearly this text, the nearest first. */
  findNear(text: string): Near[] {
    return this.#index.findNear({ excerpts: [text] }, this.#options.suggestAt ?? SUGGESTED);
  }

  /** All sources in the order of their ids. */
  *[Symbol.iterator](): Generator<Source, void, void> {
    for (let ordinal = 1; ordinal <= this.size; ordinal++) yield this.#index.get(ordinal);
  }

  async close(): Promise<void> {
    await this.#writing;
    this.#log.close();
    this.#lock.close();
  }

  #write(entry: Entry, signature?: Uint32Array): void {
    this.#index.apply(entry, this.#log.stage(JSON.stringify(entry)), signature);
  }

  #readNew(): void {
    this.#log.readNew((bytes, place) => this.#index.apply(skim(bytes), place));
  }

  #change<T>(make: () => T): Promise<T> {
    return new Promise((resolve, fail) => {
      if (this.#failure !== undefined) return fail(this.#failure);
      let made: T;
      this.#waiting.push({
        make: () => {
          made = make();
          this.#done.push(() => resolve(made));
        },
        fail,
      });
      this.#writing ??= this.#writeAll();
    });
  }

  #done: (() => void)[] = [];

  /** Writes groups until nothing waits; while the disk works the next group gathers. */
  async #writeAll(): Promise<void> {
    // Those who ask in the same turn are of one group.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        await this.#lock.hold(() => this.#writeGroup(group));
        for (const tell of this.#done) tell();
      } catch (error) {
        // What the index holds is not on the disk: only opening it again tells what is.
        this.#failure = error;
        for (const { fail } of [...group, ...this.#waiting]) fail(error);
        this.#waiting = [];
      }
      this.#done = [];
    }
    this.#writing = null;
  }

  async #writeGroup(group: readonly Change[]): Promise<void> {
    this.#readNew();
    for (const { make, fail } of group) {
      try {
        make();
      } catch (error) {
        fail(error);
      }
    }
    await this.#log.flush();
  }
}

const parse = (bytes: Buffer): Entry => JSON.parse(bytes.toString()) as Entry;

const SOURCE = Buffer.from(',"source":{');

/**
 * Reads a record without its source where it admits one: opening a log needs keys and signatures alone.
 * Within a string the quotes of `SOURCE` would be escaped, so it is found where the source begins.
 */
function skim(bytes: Buffer): Entry {
  const at = bytes.indexOf(SOURCE);
  if (at === -1) return parse(bytes);
  const head = JSON.parse(`${bytes.toString('utf8', 0, at)}}`) as Partial<Admission>;
  const { key, near } = head;
  return key === undefined || near === undefined ? parse(bytes) : new Skimmed(key, near, bytes);
}

type Admission = Extract<Entry, { readonly key: string }>;

/** The record of a source whose text is parsed when it is asked for. */
class Skimmed implements Admission {
  readonly key: string;
  readonly near: string;
  readonly #bytes: Buffer;

  constructor(key: string, near: string, bytes: Buffer) {
    this.key = key;
    this.near = near;
    this.#bytes = bytes;
  }

  get source(): SourceDraft {
    return (parse(this.#bytes) as Admission).source;
  }
}

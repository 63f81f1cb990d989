import type { TenantQueries } from '../db/transaction.ts';
import { monitor, type PerformanceMonitor } from '../platform/performance-monitor.ts';
import { adapter, type SettingsAdapter } from './adapt-settings.ts';
import { readProjectSources } from './project-sources.ts';
import { SourceSet } from './source-set.ts';

type Entry = {
  readonly version: string;
  readonly sources: SourceSet;
  readonly characters: number;
};

type VersionRow = { readonly project_id: string | null; readonly version: string };

const NO_SOURCES = new SourceSet();

/**
 * The sources of projects in this process. Every job of a session reads the same texts: they are
 * loaded when they have changed, and what every job asks for is their version. The least recently used
 * project is dropped when there are more characters than the settings allow.
 */
export class SourceCache {
  /** In the order of their last use. */
  readonly #entries = new Map<string, Entry>();
  readonly #adapter: SettingsAdapter;
  readonly #monitor: PerformanceMonitor;
  #used = 0;
  readonly #loading = new Map<string, Promise<SourceSet>>();

  constructor(settings: SettingsAdapter = adapter, measured: PerformanceMonitor = monitor) {
    this.#adapter = settings;
    this.#monitor = measured;
  }

  /** The sources of a session's project; they are shared, and nobody may change them. */
  async read(tx: TenantQueries, sessionId: string): Promise<SourceSet> {
    // Each update of a row gives it a later xmin, so that the sum grows with every change.
    const [row] = await tx.query<VersionRow>(
      `select p.project_id, count(s.ordinal) || '/' || coalesce(sum(s.xmin::text::bigint), 0)
         as version
       from sessions p
       left join sources s on s.tenant_id = p.tenant_id and s.project_id = p.project_id
       where p.id = $1 group by p.project_id`,
      [sessionId],
      'read-sources-version',
    );
    if (!row || row.project_id === null || row.version.startsWith('0/')) return NO_SOURCES;
    const key = `${tx.tenantId}/${row.project_id}`;
    const known = this.#entries.get(key);
    const isHit = known?.version === row.version;
    const { project_id, version } = row;
    const sources = isHit ? known.sources : await this.#load(tx, project_id, `${key} ${version}`);
    const dropped = this.#keep(key, { version: row.version, sources, characters: sizeOf(sources) });
    this.#monitor.count('source_cache', isHit ? 1 : 0, isHit ? 0 : 1);
    this.#adapter.noteLookup(isHit, dropped, this.#used);
    return sources;
  }

  /** Jobs that miss the same texts at once wait for the one that reads them. */
  async #load(tx: TenantQueries, projectId: string, key: string): Promise<SourceSet> {
    const other = await this.#loading.get(key)?.catch(() => undefined);
    if (other !== undefined) return other;
    const own = readProjectSources(tx, projectId);
    this.#loading.set(key, own);
    try {
      return await own;
    } finally {
      if (this.#loading.get(key) === own) this.#loading.delete(key);
    }
  }

  /** Puts an entry behind all others, and drops from the front; returns how many were dropped. */
  #keep(key: string, entry: Entry): number {
    this.#drop(key);
    const { cacheCharacters } = this.#adapter.settings;
    let dropped = 0;
    // Deleting the current key of a Map while iterating over it is defined.
    for (const oldest of this.#entries.keys()) {
      if (this.#used + entry.characters <= cacheCharacters) break;
      this.#drop(oldest);
      dropped += 1;
    }
    // What is larger than the whole cache is kept alone, until another project is read: each job of a
    // run asks for it, and reading 50 MB takes the store a second. It counts as pressure.
    const pressure = entry.characters > cacheCharacters ? 1 : 0;
    this.#entries.set(key, entry);
    this.#used += entry.characters;
    return dropped + pressure;
  }

  #drop(key: string): void {
    this.#used -= this.#entries.get(key)?.characters ?? 0;
    this.#entries.delete(key);
  }
}

const sizes = new WeakMap<SourceSet, number>();

function sizeOf(sources: SourceSet): number {
  const known = sizes.get(sources);
  if (known !== undefined) return known;
  const size = sources.standing.reduce(
    (sum, { excerpts }) => sum + excerpts.reduce((all, text) => all + text.length, 0),
    0,
  );
  sizes.set(sources, size);
  return size;
}

/** The sources that the jobs of this process read. */
export const sourceCache = new SourceCache();

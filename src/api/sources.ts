import type { Transaction } from '../db/transaction.ts';
import { DialecticError } from '../errors/errors.ts';
import { admitEarlierReferences } from '../session/admit-references.ts';
import { findProject } from '../session/project.ts';
import { readSession } from '../session/read.ts';
import { listSources, type SourceDetail, type SourceInfo } from '../session/source-info.ts';
import { type Trace, traceCitation } from '../session/trace-citation.ts';
import { exportBibtex } from '../sources/export-bibtex.ts';
import { exportCsl } from '../sources/export-csl.ts';
import {
  admitSources,
  mergeSource,
  readProjectSources,
  SAME_TEXT,
  splitSource,
} from '../sources/project-sources.ts';
import type { Source } from '../sources/source.ts';
import { type CheckedState, recordChecks } from '../sources/source-checks.ts';
import { type GivenSource, splitGiven } from '../sources/source-copies.ts';
import type { Likeness, Registered } from '../sources/source-index.ts';
import { type Plain, toPlain } from './plain.ts';
import type { Store } from './store.ts';
import { storeMetrics } from './store-metrics.ts';

const FORMATS = {
  'csl-json': (sources: readonly Source[]): string => exportCsl(sources),
  bibtex: (sources: readonly Source[]): string => exportBibtex(sources),
};

/** A format of reference managers. */
export type SourceFormat = keyof typeof FORMATS;

/** What the documents of a project may cite; a project is named by its name or id. */
export class Sources {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Adds sources in their order; one that the project has keeps its id and gets what is new. One with
   * the same text as another becomes an alias of it, or from the likeness that is given or configured.
   */
  async add(
    project: string,
    given: readonly GivenSource[],
    likeness: Likeness = this.#store.likeness ?? SAME_TEXT,
  ): Promise<readonly Registered[]> {
    const wanted = given.map((one) => ({ ...splitGiven(one), origin: 'added' as const }));
    const added = await this.#in(project, (tx, id) => admitSources(tx, id, wanted, likeness));
    await storeMetrics(this.#store);
    return added;
  }

  /** The sources in the order of their ids, without their texts. */
  list(project: string): Promise<readonly Plain<SourceInfo>[]> {
    return this.#in(project, async (tx, id) =>
      toPlain((await listSources(tx, id)).map(({ info }) => info)),
    );
  }

  /** One source with its texts and everything that cites it. */
  show(project: string, wanted: string): Promise<Plain<SourceDetail>> {
    return this.#in(project, async (tx, id) => {
      const sources = await listSources(tx, id);
      const found = sources.find(({ info }) => info.id === wanted.toUpperCase());
      if (found) {
        const { info, ...detail } = found;
        return toPlain({ ...info, ...detail });
      }
      const there = sources.length === 0 ? 'it has none' : `it has S1 to S${sources.length}`;
      throw new DialecticError('not_found', `The project has no source ${wanted}; ${there}.`);
    });
  }

  /** Notes how sources stood when their pages were looked at again. */
  async recordChecks(project: string, checks: readonly CheckedState[]): Promise<void> {
    await this.#in(project, (tx, id) => recordChecks(tx, id, checks));
    await storeMetrics(this.#store);
  }

  /** The sources as a reference manager reads them. */
  export(project: string, format: SourceFormat): Promise<string> {
    return this.#in(project, async (tx, id) =>
      FORMATS[format]((await readProjectSources(tx, id)).all),
    );
  }

  /** From a line of a session's page, as in `decision:12`, to what its sources say. */
  trace(session: string, place: string): Promise<Trace> {
    const { database, tenantId } = this.#store;
    return database.asTenant(tenantId, async (tx) =>
      traceCitation(tx, await readSession(tx, session), place),
    );
  }

  /** Makes a source an alias of another, whose id then stands for both. */
  merge(project: string, wanted: string, into: string): Promise<void> {
    return this.#in(project, (tx, id) =>
      mergeSource(tx, id, wanted.toUpperCase(), into.toUpperCase()),
    );
  }

  /** Makes an alias a source of its own again. */
  split(project: string, wanted: string): Promise<void> {
    return this.#in(project, (tx, id) => splitSource(tx, id, wanted.toUpperCase()));
  }

  /** A project that was used before there were ids gets them first. */
  #in<T>(wanted: string, work: (tx: Transaction, projectId: string) => Promise<T>): Promise<T> {
    const { database, tenantId } = this.#store;
    return database.asTenant(tenantId, async (tx) => {
      const id = await findProject(tx, wanted);
      await admitEarlierReferences(tx, id);
      return work(tx, id);
    });
  }
}

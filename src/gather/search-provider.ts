import type { SourceDraft } from '../sources/source.ts';

/** Something that a search found. */
export type SearchHit = {
  /** Where it is: an address of the web, or a file. */
  readonly place: string;
  /** What the search tells of it; its excerpts are the passages that answer the query. */
  readonly draft: SourceDraft;
};

/** How much is wanted of a search. */
export type SearchOptions = {
  /** How many hits at most; 10. */
  readonly most?: number;
  readonly signal?: AbortSignal;
  /**
   * Called by a service of the web for a search that it has answered with success, which it bills:
   * also where the answer then cannot be read.
   */
  readonly onAnswered?: () => void;
};

/** Something that can be searched: a folder, or the web through a service. */
export interface SearchProvider {
  readonly name: string;
  /** The hits for a query, the best first. */
  search(query: string, options?: SearchOptions): Promise<readonly SearchHit[]>;
}

/** How many hits a search gives where nobody says otherwise. */
export const MOST_HITS = 10;

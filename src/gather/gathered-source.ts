import { hash } from 'node:crypto';
import type { DialecticError } from '../errors/errors.ts';
import type { SourceDraft } from '../sources/source.ts';
import type { GivenSource } from '../sources/source-copies.ts';

/** The bytes of a source as they were read, for an archive that can be compared with later ones. */
export type Archived = {
  readonly bytes: Uint8Array;
  /** The type of the bytes, `text/markdown` for example. */
  readonly mediaType: string;
  /** The SHA-256 of the bytes in hexadecimal. */
  readonly sha256: string;
};

/** A source that was read; its whole text is the one excerpt of the draft. */
export type GatheredSource = {
  /** The file or address: as it was named, or below the folder that was. */
  readonly place: string;
  readonly draft: SourceDraft;
  /** Absent where nothing could be fetched; `draft.degraded` then says why. */
  readonly archived?: Archived;
};

/** A file or address that is not taken as a source, and why. */
export type RefusedPlace = { readonly place: string; readonly error: DialecticError };

/** What an outcome of gathering holds, in the order of the places. */
export type Gathered = {
  readonly sources: readonly GatheredSource[];
  readonly refused: readonly RefusedPlace[];
};

/** The SHA-256 of bytes in hexadecimal. */
export const digestOf = (bytes: Uint8Array): string => hash('sha256', bytes, 'hex');

/** A source that was read as a project takes it: with its bytes, which are kept with it. */
export function giveSource({ draft, archived }: GatheredSource): GivenSource {
  if (archived === undefined) return draft;
  const base64 = Buffer.from(archived.bytes).toString('base64');
  return { ...draft, archived: { mediaType: archived.mediaType, base64 } };
}

import { hash } from 'node:crypto';
import type { Transaction } from '../db/transaction.ts';
import { ordinalOf, type SourceDraft } from './source.ts';

/** The bytes that a source was read from, in the form in which processes send them to each other. */
export type ArchivedBytes = {
  /** The type of the bytes, `application/pdf` for example. */
  readonly mediaType: string;
  readonly base64: string;
};

/** A source as it is given to a project: what is known of it, and the bytes it was read from. */
export type GivenSource = SourceDraft & { readonly archived?: ArchivedBytes };

/** What is stored of the bytes of a source. */
export type SourceCopy = {
  readonly source: string;
  readonly sha256: string;
  readonly mediaType: string;
  /** In bytes. */
  readonly size: number;
  readonly fetchedAt: Date;
  /** Whether the bytes themselves are kept; more than `MOST_ARCHIVED` are not. */
  readonly isKept: boolean;
};

/** The most bytes of a copy that are kept; of a larger one size and digest are. */
export const MOST_ARCHIVED = 10_000_000;

/** Takes a draft and its bytes apart. */
export function splitGiven({ archived, ...draft }: GivenSource): {
  readonly draft: SourceDraft;
  readonly archived?: ArchivedBytes;
} {
  return { draft, ...(archived && { archived }) };
}

/** Keeps the bytes of sources by their digests; what is stored already is not stored again. */
export async function saveCopies(
  tx: Transaction,
  projectId: string,
  copies: readonly { readonly id: string; readonly archived: ArchivedBytes }[],
): Promise<void> {
  for (const { id, archived } of copies) {
    const bytes = Buffer.from(archived.base64, 'base64');
    const sha256 = hash('sha256', bytes, 'hex');
    const isKept = bytes.length <= MOST_ARCHIVED;
    if (isKept) {
      await tx.query(
        `insert into archived_bytes (tenant_id, hash, body) select $1, $2, $3 from keep_texts()
         on conflict do nothing`,
        [tx.tenantId, sha256, bytes],
      );
    }
    await tx.query(
      `insert into source_copies
         (tenant_id, project_id, source, sha256, media_type, size, bytes_hash)
       values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
      [
        tx.tenantId,
        projectId,
        ordinalOf(id),
        sha256,
        archived.mediaType,
        bytes.length,
        isKept ? sha256 : null,
      ],
    );
  }
}

/** The copies of a project's sources, by source and by the time at which they were read. */
export async function readCopies(tx: Transaction, projectId: string): Promise<SourceCopy[]> {
  const rows = await tx.query<{
    source: number;
    sha256: string;
    media_type: string;
    size: number;
    fetched_at: Date;
    kept: boolean;
  }>(
    `select source, sha256, media_type, size, fetched_at, bytes_hash is not null as kept
     from source_copies where project_id = $1 order by source, fetched_at, sha256`,
    [projectId],
  );
  return rows.map(({ source, sha256, media_type, size, fetched_at, kept }) => ({
    source: `S${source}`,
    sha256,
    mediaType: media_type,
    size,
    fetchedAt: fetched_at,
    isKept: kept,
  }));
}

/** The bytes of a copy that is kept. */
export async function readCopyBytes(tx: Transaction, sha256: string): Promise<Buffer> {
  const { body } = await tx.queryOne<{ body: Buffer }>(
    'select body from archived_bytes where hash = $1',
    [sha256],
  );
  return body;
}

import type { Transaction } from '../db/transaction.ts';
import { readBlob, saveBlob } from '../documents/blobs.ts';
import { renderBody } from '../generation/render-document.ts';
import type { Process, Stage, Step } from '../recipe/types.ts';
import { requireRecord } from '../text/is-record.ts';

/** A document of a step with a template; `body_hash` is null where its body was never stored. */
type RenderedRow = {
  readonly id: string;
  readonly content: unknown;
  readonly body_hash: string | null;
};

/**
 * The Markdown of a document as prompts show it: what was rendered when the document was accepted,
 * or, for a document of an earlier release, rendered now and stored for the next reader.
 */
export async function readBody(
  tx: Transaction,
  process: Process,
  stage: Stage,
  step: Step,
  { id, content, body_hash }: RenderedRow,
): Promise<string> {
  if (body_hash !== null) return readBlob(tx, body_hash);
  const body = renderBody(process, stage, step, requireRecord(content));
  // Skips a row that another reader has locked, who stores the same text: readers never wait for
  // each other, and so cannot deadlock over several documents.
  await tx.query(
    `update documents set body_hash = $2 where id in (
       select id from documents where id = $1 and body_hash is null for update skip locked)`,
    [id, await saveBlob(tx, body)],
  );
  return body;
}

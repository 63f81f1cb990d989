import type { Transaction } from '../db/transaction.ts';
import { constructPath } from '../documents/paths.ts';
import { readCopies, readCopyBytes, type SourceCopy } from '../sources/source-copies.ts';

/** Where the bytes of sources stand in a folder. */
export const COPIES_FOLDER = 'copies';

const placeOf = (name: string): string =>
  constructPath({ kind: 'general_resource', name: `${COPIES_FOLDER}/${name}` });

/** Pages stand as text, so that opening one runs nothing and fetches nothing. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'text/html': 'html.txt',
  'text/markdown': 'md.txt',
};

/** As many digits as keep the copies of one source apart. */
const SHOWN_DIGITS = 12;

const nameCopy = ({ source, sha256, mediaType }: SourceCopy): string =>
  `${source}-${sha256.slice(0, SHOWN_DIGITS)}.${EXTENSIONS[mediaType] ?? 'txt'}`;

/** The bytes that the sources of a project were read from, as files, with a list of their digests. */
export async function exportCopies(
  tx: Transaction,
  projectId: string,
): Promise<Map<string, string | Uint8Array>> {
  const files = new Map<string, string | Uint8Array>();
  const copies = await readCopies(tx, projectId);
  for (const copy of copies) {
    if (copy.isKept) files.set(placeOf(nameCopy(copy)), await readCopyBytes(tx, copy.sha256));
  }
  const list = copies.map((copy) => ({ ...copy, file: copy.isKept ? nameCopy(copy) : null }));
  if (list.length > 0) files.set(placeOf('copies.json'), `${JSON.stringify(list, null, 2)}\n`);
  return files;
}

import { extname } from 'node:path';

const BY_NAME: Readonly<Record<string, string>> = {
  '.md': 'text/markdown',
  '.markdown': 'text/markdown',
  '.html': 'text/html',
  '.htm': 'text/html',
  '.xhtml': 'text/html',
};

/** The types whose bytes tell what they are, whatever a name or a server says. */
const BY_MAGIC: readonly (readonly [magic: string, type: string])[] = [
  ['%PDF-', 'application/pdf'],
  ['PK\x03\x04', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['\xd0\xcf\x11\xe0', 'application/msword'],
];

/** The types that servers give pages which are read as HTML. */
const HTML = ['text/html', 'application/xhtml+xml'];

/** The type of some bytes: by their beginning, else as the server says, else by the name. */
export function mediaTypeOf(bytes: Uint8Array, name: string, contentType = ''): string {
  const head = Buffer.from(bytes.subarray(0, 1024)).toString('latin1');
  const magic = BY_MAGIC.find(([start]) => head.startsWith(start))?.[1];
  if (magic !== undefined) return magic;
  const said = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const named = BY_NAME[extname(name).toLowerCase()];
  // Many servers send Markdown as plain text.
  if (said === 'text/markdown' || (named === 'text/markdown' && said !== 'text/html')) {
    return 'text/markdown';
  }
  if (HTML.includes(said)) return 'text/html';
  if (said !== '' && said !== 'application/octet-stream') return said;
  return named ?? (looksLikeHtml(head) ? 'text/html' : 'text/plain');
}

const looksLikeHtml = (head: string): boolean => /^\s*<(?:!doctype html|html)\b/i.test(head);

/** The encoding that a server names for its bytes. */
export const charsetOf = (contentType: string): string | undefined =>
  /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(contentType.slice(0, 500))?.[1];

import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { DialecticError } from '../errors/errors.ts';
import { explain } from '../platform/guarded-request.ts';
import { countNoun } from '../text/count-noun.ts';

/** The body of an answer, unpacked to `most` bytes at most; what goes beyond is not read. */
export async function readBody(
  response: IncomingMessage,
  url: URL,
  most: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const claimed = Number(response.headers['content-length'] ?? 0);
  if (claimed > most) throw tooLarge(response, url, most);
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of unpack(response, url) as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > most) throw tooLarge(response, url, most);
      parts.push(part);
    }
  } catch (thrown) {
    throw explain(signal.aborted ? signal.reason : thrown, url);
  } finally {
    response.destroy();
  }
  return Buffer.concat(parts);
}

function unpack(response: IncomingMessage, url: URL): Readable {
  const encoding = (response.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding === 'identity' || encoding === '') return response;
  const unpacker = unpackerOf(encoding);
  if (unpacker === undefined) {
    response.destroy();
    throw new DialecticError(
      'source_unreachable',
      `${url.href} answered in the encoding "${encoding.slice(0, 40)}", which is not known.`,
    );
  }
  // `pipe` passes no error on, and a body that was cut would be waited for.
  response.on('error', (error) => unpacker.destroy(error));
  return response.pipe(unpacker);
}

function unpackerOf(encoding: string) {
  if (encoding === 'gzip' || encoding === 'x-gzip') return createGunzip();
  if (encoding === 'br') return createBrotliDecompress();
  return encoding === 'deflate' ? createInflate() : undefined;
}

function tooLarge(response: IncomingMessage, url: URL, most: number): DialecticError {
  response.destroy();
  return new DialecticError(
    'file_too_large',
    `${url.href} has more than ${countNoun(most, 'byte')}.`,
  );
}

import { createReadStream } from 'node:fs';
import { DialecticError } from '../errors/errors.ts';
import { readRegularFile } from '../platform/read-regular-file.ts';
import { countNoun } from '../text/count-noun.ts';

/** What a shell hands over as a path: `/dev/stdin`, and `/dev/fd/63` for `<(command)`. */
const DESCRIPTOR = /^(?:\/dev\/std(in)|(?:\/dev|\/proc\/self)\/fd\/(\d+))$/;

/** The bytes of a file that a person named; `-` and descriptors of the shell are streams. */
export async function readInput(path: string, atMostBytes: number): Promise<Buffer> {
  if (path === '-') return readStandardInput(atMostBytes);
  const [, standard, digits] = DESCRIPTOR.exec(path) ?? [];
  if (standard !== undefined || digits === '0') return readStandardInput(atMostBytes);
  if (digits === undefined) return readRegularFile(path, { atMostBytes });
  return readStream(createReadStream('', { fd: Number(digits) }), path, atMostBytes);
}

/** All of standard input; more than the limit is refused without waiting for the rest. */
export const readStandardInput = (atMostBytes: number): Promise<Buffer> =>
  readStream(process.stdin, 'Standard input', atMostBytes);

async function readStream(
  stream: AsyncIterable<string | Buffer>,
  name: string,
  atMostBytes: number,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > atMostBytes) {
      const message = `${name} has more than ${countNoun(atMostBytes, 'byte')}.`;
      throw new DialecticError('file_too_large', message);
    }
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

import { explain } from '../platform/folders.ts';
import { readRegularFile } from '../platform/read-regular-file.ts';

/** The largest file or page that is taken as a source. */
export const MOST_BYTES = 10_000_000;

/** The bytes of a file that is taken as a source, at most `most` of them. */
export async function readBytes(path: string, most = MOST_BYTES): Promise<Buffer> {
  try {
    return await readRegularFile(path, { atMostBytes: most });
  } catch (thrown) {
    throw explain(thrown, path);
  }
}

import { appendFileSync, readFileSync } from 'node:fs';
import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeFifo } from '../../test/make-fifo.ts';
import { temporaryFolder } from '../../test/stores.ts';
import { readRegularFile, readRegularFileSync } from './read-regular-file.ts';

const limit = { atMostBytes: 200_000 };

describe.each([
  ['at once', async (path: string) => readRegularFileSync(path, limit)],
  ['later', (path: string) => readRegularFile(path, limit)],
])('a regular file that is read %s', (_, read) => {
  test('gives its bytes, also behind a link', async () => {
    const folder = await temporaryFolder();
    const bytes = Buffer.alloc(150_000, 'ä');
    await writeFile(join(folder, 'file'), bytes);
    await symlink('file', join(folder, 'link'));
    expect((await read(join(folder, 'link'))).equals(bytes)).toBe(true);
  });

  test.skipIf(process.platform !== 'linux')(
    'is read to its end where it claims to be empty',
    async () => {
      const path = '/proc/self/environ';
      const whole = readFileSync(path);
      expect(whole.length).toBeGreaterThan(1);
      expect((await read(path)).equals(whole)).toBe(true);
    },
  );

  test('is refused beyond the limit', async () => {
    const path = join(await temporaryFolder(), 'large');
    await writeFile(path, '');
    await truncate(path, 2_000_000_000);
    const code = 'file_too_large';
    const message = `${path} has 2,000,000,000 bytes; 200,000 bytes may be.`;
    await expect(read(path)).rejects.toMatchObject({ code, message });
  });

  test('is refused by name where it is a FIFO, a device or a socket', async () => {
    const folder = await temporaryFolder();
    const fifo = join(folder, 'fifo');
    makeFifo(fifo);
    const server = createServer().listen(join(folder, 'socket'));
    for (const path of [fifo, '/dev/zero', '/dev/null', join(folder, 'socket')]) {
      const code = 'file_not_text';
      await expect(read(path)).rejects.toMatchObject({
        code,
        message: expect.stringContaining(`${path} is a pipe, a device or a socket`) as string,
      });
    }
    await new Promise((resolve) => server.close(resolve));
  });

  test('leaves the faults of the system as they are', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'sub'));
    await expect(read(join(folder, 'sub'))).rejects.toMatchObject({ code: 'EISDIR' });
    await expect(read(join(folder, 'gone'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

test('a file that grows while it is read is refused at the limit', async () => {
  const path = join(await temporaryFolder(), 'growing');
  await writeFile(path, 'x'.repeat(190_000));
  const reading = readRegularFile(path, limit);
  appendFileSync(path, 'x'.repeat(1_000_000));
  await expect(reading).rejects.toMatchObject({ code: 'file_too_large' });
});

import { once } from 'node:events';
import * as fs from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { vector } from '@electric-sql/pglite-pgvector';
import { joinBytes } from './join-bytes.ts';
import type { PgliteModule } from './pglite-module.ts';
import { refuseForeignLibraries } from './shipped-libraries.ts';

/** What the thread tells its owner. */
export type ThreadMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'data'; readonly bytes: Uint8Array }
  | { readonly kind: 'disk-full' }
  | { readonly kind: 'closed' };

/** What the owner sends first: the compiled module, and where the database is. */
export type ThreadStart = { readonly module: PgliteModule; readonly directory: string };

/** What the owner sends from then on: bytes of one client, or the request to end. */
export type ThreadRequest = Uint8Array | 'close';

type NodeStream = { readonly nfd: number };
type StreamOps = {
  fsync?: (stream: NodeStream) => number;
  write: (stream: NodeStream, ...rest: unknown[]) => number;
};
type EmscriptenModule = {
  readonly FS: { readonly filesystems: { readonly NODEFS: { readonly stream_ops: StreamOps } } };
};

/**
 * PostgreSQL's own figure is 128 MB, all of which is zeroed at the start: 60 ms of processor time
 * and as much memory for a store that is a few megabytes. What does not fit is read from the
 * operating system's cache.
 */
const SHARED_BUFFERS = '32MB';
/**
 * Kept plans are made while the tables are empty, when reading all of one looks cheapest, and the
 * pages that a store's transactions touch are in memory.
 */
const PLANNING = ['enable_seqscan=off', 'random_page_cost=1.1'];
const EMSCRIPTEN_ENOSPC = 51;
const port = parentPort!;
const tell = (message: ThreadMessage): void => port.postMessage(message);

/**
 * PGlite's own file layer never calls fsync and, once a write fails for want of space, spins for
 * ever inside PostgreSQL's panic. This one syncs for real and reports the full disk before the
 * panic, so that the owner can end the thread.
 */
class DurableNodeFS extends NodeFS {
  override async init(pg: PGlite, options: object) {
    const result = await super.init(pg, options);
    const preRun = result.emscriptenOpts.preRun as ((module: EmscriptenModule) => void)[];
    preRun.push((module) => {
      const operations = module.FS.filesystems.NODEFS.stream_ops;
      const write = operations.write;
      operations.fsync = (stream) => {
        // Writes the data and the size; a WAL file keeps its size, so that no journal is written.
        fs.fdatasyncSync(stream.nfd);
        return 0;
      };
      operations.write = (stream, ...rest) => {
        try {
          return write(stream, ...rest);
        } catch (error) {
          if ((error as { errno?: number }).errno === EMSCRIPTEN_ENOSPC)
            tell({ kind: 'disk-full' });
          throw error;
        }
      };
    });
    return result;
  }
}

async function start(): Promise<void> {
  const [{ module, directory }] = (await once(port, 'message')) as [ThreadStart];
  refuseForeignLibraries();
  const pglite = await PGlite.create({
    pgliteWasmModule: module,
    fs: new DurableNodeFS(directory),
    extensions: { vector },
    startParams: [
      ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'),
      '-c',
      'wal_sync_method=fsync',
      '-c',
      `shared_buffers=${SHARED_BUFFERS}`,
      ...PLANNING.flatMap((setting) => ['-c', setting]),
    ],
  });
  port.on('message', (request: ThreadRequest) => {
    if (request === 'close') {
      void pglite.close().finally(() => tell({ kind: 'closed' }));
      return;
    }
    const chunks: Uint8Array[] = [];
    const onRawData = (bytes: Uint8Array): void => void chunks.push(bytes.slice());
    void pglite.execProtocolRawStream(request, { onRawData, syncToFs: false }).then(() => {
      const bytes = joinBytes(chunks);
      port.postMessage({ kind: 'data', bytes } satisfies ThreadMessage, [bytes.buffer]);
    });
  });
  tell({ kind: 'ready' });
}

start().catch((error: unknown) => {
  tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
});

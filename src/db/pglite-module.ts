import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { PGliteOptions } from '@electric-sql/pglite';

/** PGlite's WebAssembly as V8 keeps it; the threads of a process can share one. */
export type PgliteModule = NonNullable<PGliteOptions['pgliteWasmModule']>;

/** Node has it, but its types only know it together with a browser's. */
const { WebAssembly } = globalThis as unknown as {
  WebAssembly: { compile(bytes: Uint8Array): Promise<PgliteModule> };
};

/**
 * V8 optimises a function of WebAssembly after it has run through about this many bytes; its own
 * figure is 13 million. Most commands are over before the optimised code pays: opening the database
 * takes 40 % less processor time this way, and a long run as much as before. A module keeps the
 * figure with which it was compiled.
 */
const TIERING_BUDGET = 1_000_000_000;

let compiled: Promise<PgliteModule> | undefined;

/**
 * Compiles PGlite once for all database threads of this process. V8 compiles a function when it is
 * first called and keeps the machine code with the module, so that the second thread finds it: a
 * process opens its second store in half the processor time.
 */
export function compilePglite(): Promise<PgliteModule> {
  compiled ??= readModule().catch((error: unknown) => {
    compiled = undefined; // the next store that opens tries again
    throw error;
  });
  return compiled;
}

async function readModule(): Promise<PgliteModule> {
  setFlagsFromString(`--wasm-tiering-budget=${TIERING_BUDGET}`);
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite');
  return WebAssembly.compile(await readFile(join(dirname(entry), 'pglite.wasm')));
}

import { createHash } from 'node:crypto';

/**
 * The WebAssembly that PGlite may load beside its own: initdb, and the libraries of PostgreSQL that a
 * store uses. They are those of the pinned packages: after an update no store opens, and the error names
 * the digest to put here.
 */
const SHIPPED: ReadonlySet<string> = new Set([
  '0730c91ee9d6bf1c060c618c7c1ca1adcbb14191828ef794a4d77a85f66d965f', // initdb
  '8df464263c87e487fe2888d24a648efeb07fca8ae832ce1a6102c3ce4b726988', // dict_snowball
  '84f8bb40a74bd8f5fb2d459147ea98d9d68cd4a10c473898e52e8ab159e16705', // plpgsql
  'd217e7640cb47d854288731c8a03cd0046a05a55797979ee3ea2f8e2ad40db75', // vector
]);

type Bytes = ArrayBuffer | ArrayBufferView;

/** Node has it, but its types only know it together with a browser's. */
type WebAssemblyObject = {
  Module: new (bytes: Bytes) => object;
  compile(this: void, bytes: Bytes): Promise<object>;
  instantiate(this: void, source: Bytes | object, imports?: object): Promise<object>;
};

/** After magic number and version; PostgreSQL's libraries and initdb begin with a custom section. */
const FIRST_SECTION = 8;
const CUSTOM = 0;

/**
 * Refuses, in this thread, every library that does not come with the program. A database can name any
 * file as one (`session_preload_libraries`, LOAD, a function in C), one in its own folder too, and the
 * runtime of Emscripten evaluates JavaScript that a library brings: a data directory of somebody else
 * would run with all rights of the user. What Emscripten makes itself, to call a function of
 * JavaScript, begins with another section and carries no JavaScript.
 */
export function refuseForeignLibraries(shipped = SHIPPED): void {
  const { WebAssembly } = globalThis as unknown as { WebAssembly: WebAssemblyObject };
  const { Module, compile, instantiate } = WebAssembly;
  const check = (source: Bytes | object): void => {
    if (source instanceof Module) return;
    const bytes = bytesOf(source as Bytes);
    if (bytes[FIRST_SECTION] !== CUSTOM) return;
    const digest = createHash('sha256').update(bytes).digest('hex');
    if (!shipped.has(digest)) throw new Error(`the library ${digest} is not one of the program`);
  };
  WebAssembly.Module = new Proxy(Module, {
    construct(target, [bytes]: [Bytes]) {
      check(bytes);
      return new target(bytes);
    },
  });
  WebAssembly.compile = async (bytes) => {
    check(bytes);
    return compile(bytes);
  };
  WebAssembly.instantiate = async (source, imports) => {
    check(source);
    return instantiate(source, imports);
  };
}

const bytesOf = (source: Bytes): Uint8Array =>
  ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);

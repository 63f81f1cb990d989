const uleb = (value: number): number[] =>
  value < 128 ? [value] : [(value & 127) | 128, ...uleb(value >>> 7)];
const text = (value: string): number[] => [...uleb(value.length), ...Buffer.from(value)];
const section = (id: number, body: number[]): number[] => [id, ...uleb(body.length), ...body];

/** A library for PGlite, whose loading has Emscripten evaluate a piece of JavaScript. */
export function hostileLibrary(script: string): Buffer {
  const data = [...Buffer.from(`(void)<::>{};${script}\0`)];
  const sizes = [...uleb(data.length), 0, 0, 0];
  const head = section(0, [...text('dylink.0'), 1, ...uleb(sizes.length), ...sizes]);
  const memory = [...text('env'), ...text('memory'), 2, 0, 1];
  const base = [...text('env'), ...text('__memory_base'), 3, 0x7f, 0];
  return Buffer.from([
    ...Buffer.from('\0asm\u0001\0\0\0'),
    ...head,
    ...section(2, [2, ...memory, ...base]),
    ...section(6, [1, 0x7f, 0, 0x41, 0, 0x0b]),
    ...section(7, [1, ...text('__em_js__hostile'), 3, 1]),
    ...section(11, [1, 0, 0x23, 0, 0x0b, ...uleb(data.length), ...data]),
  ]);
}

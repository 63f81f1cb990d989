/**
 * Joins bytes in memory of their own. Small buffers of Node are views of a shared pool, and a
 * message to another thread copies all of what a view lies in: 64 KB for a statement of 200 bytes.
 */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

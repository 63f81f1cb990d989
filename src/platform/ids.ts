import { randomBytes } from 'node:crypto';
import { now } from './clock.ts';

/** Chance for so many ids is asked for at once: asking takes ten times as long as making an id. */
const MOST_IDS = 256;
const ID_BYTES = 16;
let chance = Buffer.alloc(0);

/** Whether a text has the form of an id: the database refuses to compare another one with ids. */
export const isId = (text: string): boolean =>
  /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

/** A new UUID version 7 (RFC 9562): sorts by creation time, so indexes stay dense. */
export function newId(): string {
  if (chance.length === 0) chance = randomBytes(MOST_IDS * ID_BYTES);
  const bytes = chance.subarray(0, ID_BYTES);
  chance = chance.subarray(ID_BYTES);
  bytes.writeUIntBE(now().getTime(), 0, 6);
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

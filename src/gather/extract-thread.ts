import { parentPort } from 'node:worker_threads';
import { messageOf } from '../errors/errors.ts';
import { type Extracted, Unreadable } from './extracted.ts';
import { readDocx } from './read-docx.ts';
import { readHtml } from './read-html.ts';
import { readPdf } from './read-pdf.ts';

/** What the thread is asked for. */
export type Order = {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
  readonly charset?: string;
};

/** What it answers: the text, or why there is none. */
export type Reply = Extracted | { readonly unreadable: string };

parentPort?.on('message', (order: Order) => void answer(order));

async function answer(order: Order): Promise<void> {
  parentPort?.postMessage(await read(order).catch(explain));
}

function read({ bytes, mediaType, charset }: Order): Promise<Extracted> {
  if (mediaType === 'text/html') return readHtml(bytes, charset);
  return mediaType === 'application/pdf' ? readPdf(bytes) : readDocx(bytes);
}

function explain(thrown: unknown): Reply {
  if (thrown instanceof Unreadable) return { unreadable: thrown.message };
  const nested = thrown instanceof RangeError && /call stack/i.test(thrown.message);
  return {
    unreadable: nested ? 'is nested too deeply to be read' : `is broken (${messageOf(thrown)})`,
  };
}

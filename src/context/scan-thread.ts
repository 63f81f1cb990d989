import { parentPort } from 'node:worker_threads';
import { BlockScan } from './block-scan.ts';

/** A search begins with its questions, is given one text after the other, and ends. */
export type Order = { readonly id: number } & (
  | { readonly questions: readonly string[] }
  | { readonly text: string; readonly place: number }
  | { readonly mostCharacters: number }
  | { readonly isGivenUp: true }
);

// Searches of several jobs may take turns.
const scans = new Map<number, BlockScan>();

parentPort?.on('message', (order: Order) => {
  const { id } = order;
  const scan = scans.get(id);
  if ('questions' in order) scans.set(id, new BlockScan(order.questions));
  else if ('text' in order) scan?.add(order.text, order.place);
  else scans.delete(id);
  const blocks = 'mostCharacters' in order ? scan?.best(order.mostCharacters) : undefined;
  parentPort?.postMessage({ id, blocks });
});

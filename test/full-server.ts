import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';

/** Accepts nothing, since its thread sleeps: the kernel queues two connections and no more. */
const SLEEPER = `
const { parentPort } = require('node:worker_threads');
const place = { port: 0, host: '127.0.0.1', backlog: 1 };
const server = require('node:net').createServer().listen(place, () => {
  parentPort.postMessage(server.address().port);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});`;
const QUEUED = 2;

/**
 * A port that lets a connection neither be made nor be refused, as a host does that is switched off
 * or behind a firewall; no address is such on every machine.
 */
export async function startFullServer(): Promise<{ url: string; stop(): Promise<unknown> }> {
  const worker = new Worker(SLEEPER, { eval: true });
  const [port] = (await once(worker, 'message')) as [number];
  const open = (): Socket => connect(port, '127.0.0.1').on('error', () => {});
  const queued = Array.from({ length: QUEUED }, open);
  await Promise.all(queued.map((socket) => once(socket, 'connect')));
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => {
      for (const socket of queued) socket.destroy();
      return worker.terminate();
    },
  };
}

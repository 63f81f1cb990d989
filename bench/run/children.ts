import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Latency } from './plan.ts';

const scriptOf = (name: string): string => fileURLToPath(new URL(`${name}.ts`, import.meta.url));

function start(name: string, parameters: readonly string[]): ChildProcess {
  const flags = process.env.BENCH_NODE_FLAGS?.split(' ') ?? [];
  const child = spawn(process.execPath, [...flags, scriptOf(name), ...parameters], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const killWithParent = (): void => void child.kill('SIGKILL');
  process.on('exit', killWithParent);
  child.on('exit', () => process.off('exit', killWithParent));
  return child;
}

/** The first line of JSON that a process prints. */
function readLine<T>(name: string, child: ChildProcess): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  child.on('exit', (code) => reject(new Error(`${name} ended with ${code}.`)));
  createInterface({ input: child.stdout! }).on('line', (line) => {
    if (line.startsWith('{')) resolve(JSON.parse(line) as T);
  });
  return promise;
}

/** Runs a file beside this one in a process of its own and returns what it tells at its end. */
export async function runChild<T>(name: string, task: object): Promise<T> {
  const child = start(name, [JSON.stringify(task)]);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const result = await readLine<T>(name, child);
  await ended;
  return result;
}

/** The model on loopback that every subject asks. */
export type ModelServer = {
  readonly url: string;
  setLatency(latency: Latency): Promise<void>;
  /** When the first request came since this was last asked, in milliseconds since 1970. */
  firstAt(): Promise<number>;
  stop(): Promise<void>;
};

export async function startModelServer(): Promise<ModelServer> {
  const child = start('model-server', []);
  const { port } = await readLine<{ port: number }>('model-server', child);
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    setLatency: async (latency) =>
      void (await fetch(`${url}/latency`, post(JSON.stringify(latency)))),
    firstAt: async () => {
      const at = (await (await fetch(`${url}/first`, post(''))).json()) as number | null;
      if (at === null) throw new Error('The model was asked nothing.');
      return at;
    },
    stop: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill();
      await ended;
    },
  };
}

const post = (body: string): RequestInit => ({ method: 'POST', body });

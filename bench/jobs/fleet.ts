import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** What the benchmark tells one of its processes to do. */
export type Command =
  | { do: 'work' | 'await' | 'report' | 'close' }
  | { do: 'noops' | 'trees'; ids: string[] };

/** What a process says: `done` after each command and at its start, `count` whenever it grew. */
export type Answer = {
  kind: 'done' | 'count';
  count?: number;
  micros?: number;
  runs?: [id: string, micros: number][];
};

/** A process that runs one engine, and how many handlers have started in it. */
export type Member = {
  tell(command: Command): Promise<Answer>;
  count(): number;
  /** Resolves at the next change of `count`. */
  changed(): Promise<void>;
};

const script = fileURLToPath(new URL('child.ts', import.meta.url));

/** Starts a process for an engine on a database and waits until it has opened it. */
export async function startMember(engine: string, url: string, isFirst = false): Promise<Member> {
  const flags = [
    '--disable-warning=DeprecationWarning',
    ...(process.env.BENCH_NODE_FLAGS?.split(' ') ?? []),
  ];
  const child = spawn(process.execPath, [...flags, script, engine, url, isFirst ? 'first' : ''], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const killWithParent = (): void => void child.kill('SIGKILL');
  process.on('exit', killWithParent);
  let count = 0;
  let answered: PromiseWithResolvers<Answer> = Promise.withResolvers();
  let grown: PromiseWithResolvers<void> = Promise.withResolvers();
  child.on('exit', (code) => {
    process.off('exit', killWithParent);
    const error = new Error(`A process of ${engine} ended with ${code}.`);
    answered.reject(error);
    answered.promise.catch(() => {});
    grown.reject(error);
    grown.promise.catch(() => {});
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (!line.startsWith('{"kind":')) return; // an engine's own log
    const answer = JSON.parse(line) as Answer;
    if (answer.kind === 'done') return answered.resolve(answer);
    count = answer.count!;
    grown.resolve();
    grown = Promise.withResolvers();
  });
  await answered.promise;
  return {
    tell: (command) => {
      answered = Promise.withResolvers();
      child.stdin.write(`${JSON.stringify(command)}\n`);
      return answered.promise;
    },
    count: () => count,
    changed: () => grown.promise,
  };
}

/** One client and some workers of the same engine on the same database. */
export type Fleet = { client: Member; workers: Member[] };

/** Starts them; with `embedded`, one process is the client and the only worker. */
export async function startFleet(
  engine: string,
  url: string,
  workers: number | 'embedded',
): Promise<Fleet> {
  const client = await startMember(engine, url, true);
  const members =
    workers === 'embedded'
      ? [client]
      : await Promise.all(Array.from({ length: workers }, () => startMember(engine, url)));
  await Promise.all(members.map((member) => member.tell({ do: 'work' })));
  return { client, workers: members };
}

export async function stopFleet({ client, workers }: Fleet): Promise<void> {
  const others = workers.filter((worker) => worker !== client);
  await Promise.all(others.map((worker) => worker.tell({ do: 'close' })));
  await client.tell({ do: 'close' });
}

import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Benchmark, Measurement } from './frame.ts';
import { type ModelServer, startModelServer } from './run/children.ts';

const ROUNDS = 10;
const FIRST_REQUEST = 'dialectic run, store exists';
const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
const brief = fileURLToPath(new URL('../examples/bakery.md', import.meta.url));

/** Seconds from the start of a process to its end. */
function time(...parameters: string[]): number {
  const started = performance.now();
  execFileSync(process.execPath, parameters, { stdio: ['ignore', 'ignore', 'inherit'] });
  return (performance.now() - started) / 1000;
}

/** Seconds from the start of a run to the first request that its model gets. */
async function timeRun(model: ModelServer, data: string, out: string): Promise<number> {
  const parameters = ['run', brief, '-m', 'compatible/p1', '--yes'];
  const places = ['--data', data, '--out', out];
  const env = { ...process.env, DIALECTIC_BASE_URL: `${model.url}/v1` };
  const startedAt = performance.timeOrigin + performance.now();
  await promisify(execFile)(process.execPath, [main, ...parameters, ...places], { env });
  return ((await model.firstAt()) - startedAt) / 1000;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

/**
 * Whole commands, each in a process of its own. Rounds go through all of them in turn, so that a busy
 * minute of the machine does not fall on one alone; a first round, which fills Node's compile cache, is
 * not counted.
 */
async function run() {
  const folder = mkdtempSync(join(tmpdir(), 'dialectic-start-'));
  process.env['XDG_CACHE_HOME'] = join(folder, 'cache');
  const existing = join(folder, 'existing');
  let stores = 0;
  let runs = 0;
  const model = await startModelServer();
  const commands: Readonly<Record<string, () => number | Promise<number>>> = {
    'node -e 0': () => time('-e', '0'),
    'dialectic --version': () => time(main, '--version'),
    'dialectic list, store exists': () => time(main, 'list', '--data', existing),
    'dialectic list, first store': () => time(main, 'list', '--data', join(folder, `${++stores}`)),
    [FIRST_REQUEST]: () => timeRun(model, existing, join(folder, `out-${++runs}`)),
  };
  const samples = new Map<string, number[]>(Object.keys(commands).map((name) => [name, []]));
  try {
    time(main, 'list', '--data', existing);
    for (const start of Object.values(commands)) await start();
    for (let round = 1; round <= ROUNDS; round++) {
      for (const [name, start] of Object.entries(commands)) {
        samples.get(name)!.push(await start());
      }
    }
  } finally {
    await model.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  const seconds = (name: string): number => median(samples.get(name)!);
  const results: Measurement[] = Object.keys(commands).map((name) => ({
    metric: `start to ${name === FIRST_REQUEST ? 'its first request' : 'end'}, median of ${ROUNDS}`,
    subject: name,
    value: seconds(name),
    unit: 's',
  }));
  const node = seconds('node -e 0');
  return {
    results,
    ratios: {
      version_vs_node: seconds('dialectic --version') / node,
      list_vs_node: seconds('dialectic list, store exists') / node,
      first_store_vs_list:
        seconds('dialectic list, first store') / seconds('dialectic list, store exists'),
      run_vs_list: seconds(FIRST_REQUEST) / seconds('dialectic list, store exists'),
    },
  };
}

export default { title: 'Start: whole commands beside an empty process', run } satisfies Benchmark;

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Benchmark, Measurement } from './frame.ts';

const ROUNDS = 10;
const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));

/** Seconds from the start of a process to its end. */
function time(...parameters: string[]): number {
  const started = performance.now();
  execFileSync(process.execPath, parameters, { stdio: ['ignore', 'ignore', 'inherit'] });
  return (performance.now() - started) / 1000;
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
  const commands: Readonly<Record<string, () => number>> = {
    'node -e 0': () => time('-e', '0'),
    'dialectic --version': () => time(main, '--version'),
    'dialectic list, store exists': () => time(main, 'list', '--data', existing),
    'dialectic list, first store': () => time(main, 'list', '--data', join(folder, `${++stores}`)),
  };
  const samples = new Map<string, number[]>(Object.keys(commands).map((name) => [name, []]));
  try {
    time(main, 'list', '--data', existing);
    for (const start of Object.values(commands)) start();
    for (let round = 1; round <= ROUNDS; round++) {
      for (const [name, start] of Object.entries(commands)) samples.get(name)!.push(start());
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const seconds = (name: string): number => median(samples.get(name)!);
  const results: Measurement[] = Object.keys(commands).map((name) => ({
    metric: `start to end, median of ${ROUNDS}`,
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
    },
  };
}

export default { title: 'Start: whole commands beside an empty process', run } satisfies Benchmark;

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type Measurement = { metric: string; subject: string; value: number; unit: string };

/** What a benchmark gives back; every ratio compares two subjects of this same run. */
export type BenchResult = { results: Measurement[]; ratios: Record<string, number> };

/** A file in this folder: `NAME.bench.ts` with a default export of this type. */
export type Benchmark = {
  title: string;
  /** Whether it compares with other libraries, which are installed for benchmarks alone. */
  needsPeers?: boolean;
  run(flags: readonly string[]): Promise<BenchResult>;
};

/** Installs the exact versions of the lock file beside this file, unless they are there. */
export function installPeers(): void {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  if (existsSync(join(folder, 'node_modules'))) return;
  process.stderr.write('Installing the libraries to compare with (npm ci in bench/) …\n');
  const isWindows = process.platform === 'win32';
  execFileSync('npm', ['ci'], { cwd: folder, stdio: ['ignore', 2, 2], shell: isWindows });
}

const document = fileURLToPath(new URL('../docs/benchmarks.md', import.meta.url));

function describeMachine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} × ${model}, ${memory} GiB, ${arch()}, Node ${process.versions.node}`;
}

/** Times `work` until `seconds` have passed, after a warm-up; returns runs a second. */
export async function ratePerSecond(seconds: number, work: () => Promise<unknown>, batch = 1) {
  const until = async (end: number): Promise<number> => {
    let runs = 0;
    while (performance.now() < end) {
      await work();
      runs++;
    }
    return runs;
  };
  await until(performance.now() + (seconds * 1000) / 4);
  const started = performance.now();
  const runs = await until(started + seconds * 1000);
  return (runs * batch * 1000) / (performance.now() - started);
}

const round = (value: number): number => Number(value.toPrecision(4));

export function toTable({ results, ratios }: BenchResult): string {
  const rows = results.map(
    ({ metric, subject, value, unit }) => `| ${metric} | ${subject} | ${round(value)} | ${unit} |`,
  );
  const lines = Object.entries(ratios).map(([name, value]) => `| ${name} | ${round(value)} |`);
  return [
    '| metric | subject | value | unit |',
    '|---|---|---|---|',
    ...rows,
    '',
    '| ratio | value |',
    '|---|---|',
    ...lines,
  ].join('\n');
}

/** The last line of every benchmark, for programs. */
export function toJson(bench: string, { results, ratios }: BenchResult): string {
  const exact = results.map((result) => ({ ...result, value: round(result.value) }));
  const rounded = Object.entries(ratios).map(([name, value]) => [name, round(value)]);
  return JSON.stringify({
    bench,
    machine: describeMachine(),
    results: exact,
    ratios: Object.fromEntries(rounded),
  });
}

/** Redraws one benchmark's part of docs/benchmarks.md and leaves the others as they are. */
export function writeSection(bench: string, title: string, table: string): void {
  const open = `<!-- bench:${bench} -->`;
  const close = `<!-- /bench:${bench} -->`;
  const command = `\`npm run bench ${bench}\` on ${describeMachine()}.`;
  const section = `${open}\n## ${title}\n\n${command}\n\n${table}\n${close}`;
  const text = existsSync(document) ? readFileSync(document, 'utf8') : '# Benchmarks\n';
  const start = text.indexOf(open);
  const end = text.indexOf(close);
  const next =
    start === -1
      ? `${text.trimEnd()}\n\n${section}\n`
      : text.slice(0, start) + section + text.slice(end + close.length);
  writeFileSync(document, next);
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { auditCitations } from '../src/sources/audit-citations.ts';
import { canonicalUrl } from '../src/sources/canonical-key.ts';
import { formatFootnotes } from '../src/sources/footnotes.ts';
import { SourceRegistry } from '../src/sources/registry.ts';
import type { Source } from '../src/sources/source.ts';
import { type Entry, SourceIndex } from '../src/sources/source-index.ts';
import { SourceLog } from '../src/sources/source-log.ts';
import type { Benchmark, Measurement } from './frame.ts';
import { chanceOf, draftOf, reportOf, textOf } from './sources/drafts.ts';
import { judgeQuality } from './sources/quality.ts';

/** Drafts that are registered; `--drafts=N` registers fewer, for a short look. */
const MANY = 1_000_000;
const GROUP = 1_000;
const ADVERSARIAL = ['[[[[', '![![', '`a`` ', '[S1][', '<a "', '"aaa', '1,1.', 'Source 1 '];
const METHODS = ['min-hash', 'lsh-forest', 'sim-hash'] as const;

const quantile = (values: Float64Array, share: number): number =>
  values.toSorted()[Math.floor(values.length * share)] ?? 0;

/** Times each of many calls, in microseconds. */
function timeEach(count: number, work: (at: number) => void): Float64Array {
  const times = new Float64Array(count);
  for (let at = 0; at < count; at++) {
    const started = process.hrtime.bigint();
    work(at);
    times[at] = Number(process.hrtime.bigint() - started) / 1000;
  }
  return times;
}

/** Admission alone, as the registry does it for each source of a group, up to a million of them. */
async function measureAdmission(folder: string, many: number): Promise<Measurement[]> {
  const log = new SourceLog(folder);
  const index = new SourceIndex((place) => JSON.parse(log.readAt(place).toString()) as Entry);
  const chance = chanceOf(1);
  const times = new Float64Array(many);
  let [spent, mistaken] = [0, 0];
  for (let from = 0; from < many; from += GROUP) {
    const drafts = Array.from({ length: GROUP }, (_, at) => draftOf(from + at, chance));
    const started = performance.now();
    const group = timeEach(GROUP, (at) => {
      const draft = drafts[at]!;
      const { ordinal, entry } = index.place(draft);
      if (ordinal > index.size) index.findNear(draft.excerpts.join('\n'), 0.8);
      if (entry !== null) index.apply(entry, log.stage(Buffer.from(JSON.stringify(entry))));
    });
    await log.flush();
    spent += performance.now() - started;
    times.set(group, from);
  }
  const last = times.subarray(many - many / 10);
  const known = Array.from(
    { length: 100_000 },
    (_, at) => `url:example-${at % 997}.org/papers/${at}`,
  );
  const urls = known.map((key) => `https://${key.slice(4)}`);
  const started = performance.now();
  for (const key of known) index.find(key);
  const find = performance.now() - started;
  for (const url of urls) canonicalUrl(url);
  const canonical = performance.now() - started - find;
  const fresh = Array.from({ length: 100_000 }, (_, at) => textOf(many * 3 + at));
  const near = timeEach(fresh.length, (at) => {
    mistaken += index.findNear(fresh[at]!, 0.8).length;
  });
  const subject = `${index.size} sources of ${many} drafts`;
  const rows: [string, number, string][] = [
    ['register, median of the last tenth', quantile(last, 0.5), 'µs'],
    ['register, 99th percentile of the last tenth', quantile(last, 0.99), 'µs'],
    ['registered, with the disk', (many / spent) * 1000, '/s'],
    ['resident memory', process.memoryUsage().rss / 2 ** 20, 'MB'],
    ['exact duplicate by key', (find / known.length) * 1000, 'µs'],
    ['key of an address', (canonical / urls.length) * 1000, 'µs'],
    ['near duplicate, median', quantile(near, 0.5), 'µs'],
    ['near duplicate, 99th percentile', quantile(near, 0.99), 'µs'],
    ['unrelated texts of 10⁵ that were taken for near', mistaken, ''],
  ];
  log.close();
  return rows.map(([metric, value, unit]) => ({ metric, subject, value, unit }));
}

/** A thousand callers at a time, each of which waits for the disk; then the log is read again. */
async function measureDurable(folder: string, recovered: string): Promise<Measurement[]> {
  const registry = await SourceRegistry.open(folder);
  const count = 100_000;
  const drafts = Array.from({ length: count }, (_, at) => draftOf(at, () => 1));
  const started = performance.now();
  for (let from = 0; from < count; from += GROUP) {
    await Promise.all(drafts.slice(from, from + GROUP).map((draft) => registry.register(draft)));
  }
  const rate = (count / (performance.now() - started)) * 1000;
  await registry.close();
  const opening = performance.now();
  const again = await SourceRegistry.open(recovered);
  const seconds = (performance.now() - opening) / 1000;
  const subject = `${again.size} sources`;
  await again.close();
  return [
    {
      metric: 'durable registrations, 1,000 callers',
      subject: '10⁵ sources',
      value: rate,
      unit: '/s',
    },
    { metric: 'recovery of the log', subject, value: seconds, unit: 's' },
  ];
}

/** Audit and footnotes of a report, and of one of ten megabytes. */
function measureAudit(): Measurement[] {
  const find = (id: string): Source => ({ id, key: id, title: id, excerpts: [`${id.slice(1)}0`] });
  const work = (text: string, known: readonly string[]): void => {
    auditCitations(text, find, known);
    formatFootnotes(text, find);
  };
  const report = reportOf(100);
  const known = Array.from({ length: 100 }, (_, at) => `S${at + 1}`);
  const short = quantile(timeEach(500, () => work(report, known)).subarray(100), 0.5) / 1000;
  const long = report.repeat(Math.ceil(10_000_000 / report.length));
  const [ms] = timeEach(1, () => work(long, known));
  const rate = (text: string, took: number): number => text.length / 1e6 / (took / 1000);
  const worst = Math.min(...ADVERSARIAL.map((piece) => adversarialRate(piece, work, known)));
  const subject = `${Math.round(report.length / 1000)} kB, 100 citations`;
  return [
    { metric: 'audit and footnotes, median', subject, value: short, unit: 'ms' },
    { metric: 'audit and footnotes', subject, value: rate(report, short), unit: 'MB/s' },
    {
      metric: 'audit and footnotes',
      subject: '10 MB',
      value: rate(long, (ms ?? 0) / 1000),
      unit: 'MB/s',
    },
    {
      metric: 'audit and footnotes, slowest adversarial text',
      subject: '10 MB',
      value: worst,
      unit: 'MB/s',
    },
  ];
}

/** Ten megabytes of one piece: what takes a nested search hours. */
function adversarialRate(
  piece: string,
  work: (text: string, known: readonly string[]) => void,
  known: readonly string[],
): number {
  const text = piece.repeat(10_000_000 / piece.length);
  const [took = 1] = timeEach(1, () => work(text, known));
  return text.length / took;
}

async function run(flags: readonly string[]) {
  const drafts = flags.find((flag) => flag.startsWith('--drafts='))?.slice('--drafts='.length);
  const many = drafts === undefined ? MANY : Math.max(GROUP, Number(drafts));
  const folders = ['many', 'durable'].map((name) =>
    mkdtempSync(join(tmpdir(), `sources-${name}-`)),
  );
  try {
    const audit = measureAudit();
    const quality = judgeQuality(METHODS);
    const admission = await measureAdmission(folders[0]!, many);
    const durable = await measureDurable(folders[1]!, folders[0]!);
    const judged = [...quality].flatMap(([subject, { recall, precision, verified }]) => [
      { metric: 'licences at least 0.8 alike: recall', subject, value: recall, unit: '' },
      { metric: 'licences at least 0.8 alike: precision', subject, value: precision, unit: '' },
      { metric: 'pairs of licences that were compared', subject, value: verified * 100, unit: '%' },
    ]);
    const valueOf = (at: number): number => admission[at]?.value ?? 0;
    const ratios = {
      register_p50_us: valueOf(0),
      register_per_s: valueOf(2),
      duplicate_us: valueOf(4),
      near_duplicate_p50_us: valueOf(6),
      near_duplicate_recall: quality.get('min-hash')?.recall ?? 0,
      near_duplicate_precision: quality.get('min-hash')?.precision ?? 0,
      audit_100_ms: audit[0]?.value ?? 0,
    };
    return { results: [...admission, ...judged, ...audit, ...durable], ratios };
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
}

export default {
  title: 'Sources: registering, duplicates, audit',
  needsPeers: true,
  run,
} satisfies Benchmark;

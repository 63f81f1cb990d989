import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startAuthorServer } from '../author-server.ts';
import { runDialectic } from '../run-dialectic.ts';
import { emptyDatabase, temporaryFolder } from '../stores.ts';

const MODELS = ['compatible/builder', 'compatible/skeptic'];
const DEBATE = ['brief.md', '-p', 'decision-memo', ...MODELS.flatMap((model) => ['-m', model])];
const SOURCE = 'About 300 people visit the library on a Saturday.\n';

/** What models answer to the nth request for one document. */
type Spoil = (written: string, nth: number) => string;

/** As long as the document, and no JSON. */
const refused = (written: string): string => written.replace(/[{}[\]"]/g, ' ');
/** The document with a source that does not exist. */
const misquoted = (written: string): string => written.replace(/\.(?=")/, ' [S99].');

/** A store with prices and a finished run, from which sizes are learned; then answers are spoilt. */
async function place() {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'home/dialectic'), { recursive: true });
  const prices = MODELS.map((model) => `  ${model}: { price: { input: 2, output: 10 } }`);
  const file = join(folder, 'home/dialectic/dialectic.config.yaml');
  await writeFile(file, `models:\n${prices.join('\n')}\n`);
  await writeFile(join(folder, 'brief.md'), 'Should the library open on Sundays? Two staff.');
  await writeFile(join(folder, 'visitors.md'), SOURCE);
  let spoil: Spoil = (written) => written;
  const asked = new Map<string, number>();
  const server = await startAuthorServer(['builder', 'skeptic'], undefined, {
    spoil: (written, first) => {
      const nth = (asked.get(first) ?? 0) + 1;
      asked.set(first, nth);
      return spoil(written, nth);
    },
  });
  const env = {
    DATABASE_URL: await emptyDatabase(),
    XDG_CONFIG_HOME: join(folder, 'home'),
    DIALECTIC_BASE_URL: server.url,
  };
  const json = async (...words: string[]) => {
    const { code, stdout, stderr } = await runDialectic([...words, '--json'], { cwd: folder, env });
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout);
  };
  await json('run', ...DEBATE, '--yes');
  return {
    json,
    stop: server.stop,
    spoilFromNow: (by: Spoil) => {
      asked.clear();
      spoil = by;
    },
  };
}

type Placed = Awaited<ReturnType<typeof place>>;

/** Runs with spoilt answers; what the ledger says that it cost, and what was estimated before. */
async function debate({ json }: Placed, ...words: string[]) {
  const { estimate, ...result } = await json('run', ...DEBATE, '--yes', ...words);
  expect(result.status).toBe('completed');
  const report = await json('wallet', 'report');
  return { estimate, report };
}

test('a run whose answers are refused as often as allowed costs no more than estimated', async () => {
  const placed = await place();
  const clean = await debate(placed);
  placed.spoilFromNow((written, nth) => (nth <= 2 ? refused(written) : written));
  const { estimate, report } = await debate(placed);
  expect(report.retries.calls).toBe(2 * estimate.documents);
  expect(report.total).toBeGreaterThan(2.5 * clean.report.total);
  expect(report.total).toBeLessThanOrEqual(estimate.costUsd.high);
  expect(report.calls.length).toBeLessThanOrEqual(estimate.calls.high);
  // What is likely is what was seen, not what may happen.
  expect(estimate.costUsd.middle).toBeLessThan(1.2 * clean.report.total);
  await placed.stop();
}, 240_000);

test('so does one with sources whose citations are wrong as often as allowed, too', async () => {
  const placed = await place();
  placed.spoilFromNow((written, nth) => {
    if (nth <= 2) return refused(written);
    return nth <= 4 ? misquoted(written) : written;
  });
  const { estimate, report } = await debate(placed, '--source', 'visitors.md');
  expect(report.retries.calls).toBeGreaterThan(3 * estimate.documents);
  expect(report.total).toBeLessThanOrEqual(estimate.costUsd.high);
  expect(report.calls.length).toBeLessThanOrEqual(estimate.calls.high);
  await placed.stop();
}, 240_000);

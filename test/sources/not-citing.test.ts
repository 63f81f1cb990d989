import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { describeCitations } from '../../src/cli/sources-text.ts';
import { startAuthorServer } from '../author-server.ts';
import { runDialectic } from '../run-dialectic.ts';
import { emptyDatabase, temporaryFolder } from '../stores.ts';

const MODELS = ['compatible/builder', 'compatible/skeptic'];
const DEBATE = ['brief.md', '-p', 'software-plan', ...MODELS.flatMap((model) => ['-m', model])];
/** Statements with figures and no source in every text of a document. */
const uncite = (written: string): string =>
  written
    .replace(/ ?\[S\d+(?:\.e\d+)?\]/g, '')
    .replace(/\.(?=")/g, ', which 412 of 900 people a week said in 2019.');

type Run = Awaited<ReturnType<typeof run>>;

async function run(...words: string[]) {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'home/dialectic'), { recursive: true });
  const prices = MODELS.map((model) => `  ${model}: { price: { input: 2, output: 10 } }`);
  const file = join(folder, 'home/dialectic/dialectic.config.yaml');
  await writeFile(file, `models:\n${prices.join('\n')}\n`);
  await writeFile(join(folder, 'brief.md'), 'An online shop for a bakery.');
  await writeFile(join(folder, 'visitors.md'), 'The bakery sells 1,200 loaves a week.\n');
  const server = await startAuthorServer(['builder', 'skeptic'], undefined, { spoil: uncite });
  const env = {
    DATABASE_URL: await emptyDatabase(),
    XDG_CONFIG_HOME: join(folder, 'home'),
    DIALECTIC_BASE_URL: server.url,
  };
  const dialectic = async (...of: string[]) => {
    const ended = await runDialectic(of, { cwd: folder, env });
    expect(ended.code, ended.stderr).toBe(0);
    return ended;
  };
  const { stdout, stderr } = await dialectic('run', ...DEBATE, '--yes', '--json', ...words);
  const report = JSON.parse((await dialectic('wallet', 'report', '--json')).stdout);
  const told = await dialectic('wallet', 'report');
  const notices = JSON.parse((await dialectic('notices', '--json')).stdout);
  await server.stop();
  return { result: JSON.parse(stdout), stderr, report, told, notices };
}

let without: Run;
let uncited: Run;
beforeAll(async () => {
  without = await run('--until', 'antithesis');
  uncited = await run('--until', 'antithesis', '--source', 'visitors.md');
}, 400_000);

test('a run whose models cite no source costs a little more for that, not twice as much', () => {
  const { askedForSources, retries, byDocument } = uncited.report;
  expect(askedForSources.calls).toBeGreaterThan(0);
  // Not more than a tenth of the documents, and all that is asked again is asked for that.
  expect(askedForSources.calls).toBeLessThanOrEqual(Math.max(1, byDocument.length / 10));
  expect(retries).toMatchObject({ calls: askedForSources.calls, usd: askedForSources.usd });
  expect(uncited.report.total).toBeLessThan(1.3 * without.report.total);
  expect(uncited.report.total).toBeLessThanOrEqual(uncited.result.estimate.costUsd.high);
});

test('it says so once while it runs, and with what it took at its end', async () => {
  const { stderr, notices, result, report, told } = uncited;
  const said = /^↻ \d \w+, .+ cites too few of the given sources: asked again \(at most/gm;
  expect(stderr.match(said)).toHaveLength(1);
  const own = notices.filter(({ code }: { code: string }) => code === 'sources_not_cited');
  expect(own).toHaveLength(1);
  expect(own[0].message).toContain('At most a tenth of the documents are asked for again');
  const { calls, usd } = report.askedForSources;
  expect(result.citations.askedForSources).toEqual({ calls, costUsd: usd });
  const sum = `$${usd.toFixed(4)} of $${report.total.toFixed(4)}`;
  const lines = describeCitations(result);
  expect(lines).toContain(`Asked again ${calls} times because too few sources were cited: ${sum}`);
  expect(told.stdout).toMatch(/^ {2}asked for sources +\d+ calls/m);
  expect(without.told.stdout).not.toContain('asked for sources');
  expect(without.stderr).not.toContain('sources');
});

test('the documents that it was not asked for again are marked, and say so', async () => {
  const { unverified } = uncited.result.citations as { unverified: { path: string }[] };
  expect(unverified.length).toBeGreaterThan(20);
  const written = unverified.filter(({ path }) => path !== null);
  const pages = await Promise.all(
    written.map(({ path }) => readFile(join(uncited.result.folder, path), 'utf8')),
  );
  for (const page of pages) {
    expect(page).toMatch(/^audit: failed, \d+ faults? of citation$/m);
    expect(page).toContain('**The citations of this document could not be verified**, ');
  }
  const asked = pages.filter((page) => page.includes('although its writer was asked once'));
  const unasked = pages.filter((page) =>
    page.includes('and its writer was not asked to mend them'),
  );
  expect(asked.length).toBe(uncited.report.askedForSources.calls);
  expect(unasked.length).toBe(pages.length - asked.length);
});

import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/db/open.ts';
import { LOCAL_TENANT } from '../../src/db/tenants.ts';
import { every } from '../../src/platform/clock.ts';
import { SOURCE_LIMITS } from '../../src/sources/source-limits.ts';
import { temporaryFolder } from '../stores.ts';
import { longText } from './long-texts.ts';

// What docs/sources.md promises as the most that a project may have, carried by a run of the command on
// the embedded store.
const program = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
/** Of one folder. */
const MOST_FILES = 5_000;
/** Measured: 1.2 GB, most of which a run without sources takes, too. */
const MOST_MEMORY_MB = 2_500;
/** Four stages, each with its own questions, of which each may embed some 1,500 parts. */
const MOST_PARTS = 6_000;

/** The most memory that a process has had so far; 0 where the system does not tell. */
function peakMbOf(pid: number | undefined): number {
  const file = `/proc/${pid}/status`;
  const status = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1_000;
}

async function runOver(sources: string) {
  const folder = await temporaryFolder();
  const data = join(folder, 'data');
  const brief = 'Shall the town let the hall on the market square to a bakery with an oven?';
  const args = ['run', brief, '-p', 'decision-memo', '-m', 'offline/builder', '-y'];
  const places = ['--data', data, '--out', join(folder, 'out'), '--source', sources];
  const child = spawn(process.execPath, [program, ...args, ...places], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let told = '';
  let peakMb = 0;
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    told += text;
  });
  const watch = every(100, () => {
    peakMb = Math.max(peakMb, peakMbOf(child.pid));
  });
  const status = await new Promise((resolve) => child.on('close', resolve));
  watch.stop();
  const database = await openDatabase({ dataDirectory: data }, { backupEveryMs: 0 });
  try {
    const { parts } = await database.asTenant(LOCAL_TENANT, (tx) =>
      tx.queryOne<{ parts: number }>('select count(*)::int as parts from memory_vectors'),
    );
    return { status, told, peakMb, parts };
  } finally {
    await database.close();
  }
}

const expectCarried = ({ status, told, peakMb, parts }: Awaited<ReturnType<typeof runOver>>) => {
  expect(told).not.toContain('no longer held');
  expect(status).toBe(0);
  expect(parts).toBeGreaterThan(100);
  expect(parts).toBeLessThan(MOST_PARTS);
  expect(peakMb).toBeLessThan(MOST_MEMORY_MB);
};

test('a run carries as much of the longest sources as a project may have', async () => {
  const folder = join(await temporaryFolder(), 'books');
  await mkdir(folder);
  const books = SOURCE_LIMITS.together / SOURCE_LIMITS.each;
  for (let at = 0; at < books; at++) {
    const text = longText(SOURCE_LIMITS.each, at + 1, 'A bakery pays 412 euros for the hall.');
    await writeFile(join(folder, `book-${at}.txt`), text);
  }
  expectCarried(await runOver(folder));
  await writeFile(join(folder, 'last.txt'), 'One line more.\n');
  const { status, told } = await runOver(folder).catch((error: Error) => ({
    status: null,
    told: error.message,
  }));
  expect(told).toMatch(/With \S*last.txt the sources have more than 50,000,000 bytes/);
  expect(status).toBe(2);
});

test('a run carries as many sources as a folder may have, as long as they may be together', async () => {
  const folder = join(await temporaryFolder(), 'notes');
  await mkdir(folder);
  const length = SOURCE_LIMITS.together / MOST_FILES;
  const text = longText(SOURCE_LIMITS.together, 9);
  for (let at = 0; at < MOST_FILES; at++) {
    const note = text.slice(at * length, (at + 1) * length);
    await writeFile(join(folder, `note-${String(at).padStart(4, '0')}.txt`), note);
  }
  expectCarried(await runOver(folder));
});

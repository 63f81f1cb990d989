import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newTenant, openTestStore } from '../stores.ts';
import { ANSWERS } from './hostile-answers.ts';
import { RESPONSES } from './hostile-responses.ts';
import { findBreaches, type Outcome, type Place, playAttack } from './hostile-run.ts';

const LONGEST_MS = 30_000;
const MOST_GROWTH_MB = 300;

const ATTACKS = [...ANSWERS, ...RESPONSES];

let place: Place;
const rows: string[] = [];
beforeAll(async () => {
  const database = await openTestStore('server');
  place = { database, tenantId: (await newTenant(database)).tenantId };
});

// `HOSTILE_TABLE=1 npx vitest run test/security/hostile-server.test.ts --maxConcurrency=1`
afterAll(() => {
  if (!process.env['HOSTILE_TABLE']) return;
  const head = '| attack | outcome | requests | charged | memory | time |';
  process.stdout.write(`${[head, '|---|---|---|---|---|---|', ...rows].join('\n')}\n`);
});

/** How far the memory of this process rises above its start while something runs. */
async function measureGrowth<T>(work: () => Promise<T>) {
  const rss = () => process.memoryUsage().rss / 1_000_000;
  const start = rss();
  let peak = start;
  const timer = setInterval(() => {
    peak = Math.max(peak, rss());
  }, 5);
  try {
    const result = await work();
    return { result, growthMb: Math.round(Math.max(peak, rss()) - start) };
  } finally {
    clearInterval(timer);
  }
}

const endOf = ({ status, errors }: Outcome): string =>
  status === 'completed' ? 'saved' : (errors[0]?.code ?? status);

test('there are at least 60 attacks, each with a name of its own', () => {
  const names = new Set(ATTACKS.map(({ name }) => name));
  expect(names.size).toBe(ATTACKS.length);
  expect(names.size).toBeGreaterThanOrEqual(60);
});

describe('a hostile server', () => {
  test.concurrent.each(ATTACKS)('$name', async ({ name, attack, expected, provider }) => {
    const { result, growthMb } = await measureGrowth(() => playAttack(place, attack, provider));
    const { requests, ledger, ms } = result;
    const charged = `$${(ledger.charged / 1_000_000).toFixed(6)}`;
    const row = [name, endOf(result), requests, charged, `${growthMb} MB`, `${ms} ms`];
    rows.push(`| ${row.join(' | ')} |`);
    expect(findBreaches(result)).toEqual([]);
    expect(expected).toContain(endOf(result));
    expect(ms).toBeLessThan(LONGEST_MS);
    expect(growthMb).toBeLessThan(MOST_GROWTH_MB);
  });
});

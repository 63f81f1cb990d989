import type { DebateResult } from './debate.ts';
import type { Latency } from './plan.ts';
import { askPeer, type Bench, hold, median, PEERS, STORES, type StoreName } from './subjects.ts';

export const NONE = { ms: 0, spread: 0 };
export const EVEN = { ms: 200, spread: 0 };
/** As models are: one answer takes up to three times as long as another. */
export const UNEVEN = { ms: 200, spread: 0.5 };
export const SLOW = { ms: 2_000, spread: 0 };
export const ROUNDS = 3;

/** What was measured of one subject at one latency. */
export type Sample = {
  readonly participants: number;
  readonly latency: Latency;
  readonly subject: string;
  readonly wallMs: number;
  /** Of the first debate of the process, with one participant; null where there was none. */
  readonly coldMs: number | null;
  readonly debate: DebateResult | null;
};

export const nameOf = ({ ms, spread }: Latency): string =>
  spread === 0 ? `${ms} ms` : `${ms * (1 - spread)} to ${ms * (1 + spread)} ms`;

/** The median of several rounds; what takes long is measured once, since it varies little. */
async function measure(
  bench: Bench,
  subject: string,
  participants: number,
  latency: Latency,
  rounds: number,
): Promise<Sample> {
  const results: DebateResult[] = [];
  const walls: number[] = [];
  for (let round = 0; round < rounds; round++) {
    if (subject in PEERS) walls.push((await askPeer(bench, subject, participants)).wallMs);
    else results.push(await hold(bench, subject as StoreName, participants));
  }
  const wallMs = median([...walls, ...results.map((result) => result.wallMs)]);
  const [debate = null] = results.filter((result) => result.wallMs === wallMs);
  const cold = results.flatMap((result) => result.coldMs ?? []);
  const coldMs = cold.length > 0 ? median(cold) : null;
  const seconds = (wallMs / 1000).toFixed(2);
  process.stderr.write(`${participants} × ${nameOf(latency)}, ${subject}: ${seconds} s\n`);
  return { participants, latency, subject, wallMs, coldMs, debate };
}

export async function measureAll(bench: Bench): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (const participants of [1, 2, 3]) {
    // The first debate records the answers that all others are given.
    await bench.model.setLatency(NONE);
    await hold(bench, 'PostgreSQL', participants, { isWarm: false });
    for (const latency of participants === 3 ? [NONE, EVEN, UNEVEN] : [NONE, EVEN]) {
      await bench.model.setLatency(latency);
      const subjects = [...STORES, ...(participants === 3 ? Object.keys(PEERS) : [])];
      for (const subject of subjects) {
        const rounds = participants === 3 ? ROUNDS : 1;
        samples.push(await measure(bench, subject, participants, latency, rounds));
      }
    }
  }
  await bench.model.setLatency(SLOW);
  const slow = (subject: string, participants: number): Promise<Sample> =>
    measure(bench, subject, participants, SLOW, 1);
  // Small debates with a slow model leave the machine idle, so that they are held at once.
  const small = STORES.flatMap((store) => [slow(store, 1), slow(store, 2)]);
  samples.push(...(await Promise.all(small)));
  for (const store of STORES) samples.push(await slow(store, 3));
  return samples;
}

/** Three participants, once on each store without latency and with a little. */
export async function measureShortly(bench: Bench): Promise<Sample[]> {
  await bench.model.setLatency(NONE);
  await hold(bench, 'PostgreSQL', 3, { isWarm: false });
  const samples: Sample[] = [];
  for (const latency of [NONE, EVEN]) {
    await bench.model.setLatency(latency);
    for (const store of STORES) samples.push(await measure(bench, store, 3, latency, 1));
  }
  return samples;
}

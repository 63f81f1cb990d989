import type { DebateResult } from './debate.ts';
import type { Latency } from './plan.ts';
import { askPeer, type Bench, hold, median, PEERS, STORES, type StoreName } from './subjects.ts';

export const NONE = { ms: 0, spread: 0 };
export const EVEN = { ms: 200, spread: 0 };
/** As models are: one answer takes up to three times as long as another. */
export const UNEVEN = { ms: 200, spread: 0.5 };
export const SLOW = { ms: 2_000, spread: 0 };
/** What takes long is measured once, since it varies little. */
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

type Round = { readonly wallMs: number; readonly debate: DebateResult | null };

async function takeRound(bench: Bench, subject: string, participants: number): Promise<Round> {
  if (subject in PEERS) return { ...(await askPeer(bench, subject, participants)), debate: null };
  const debate = await hold(bench, subject as StoreName, participants);
  return { wallMs: debate.wallMs, debate };
}

/** The medians of several rounds, in each of which all subjects take their turn. */
async function measure(
  bench: Bench,
  subjects: readonly string[],
  participants: number,
  latency: Latency,
): Promise<Sample[]> {
  await bench.model.setLatency(latency);
  const rounds = participants === 3 && latency !== SLOW ? ROUNDS : 1;
  const taken = new Map(subjects.map((subject) => [subject, [] as Round[]]));
  for (let round = 0; round < rounds; round++) {
    for (const [subject, list] of taken) list.push(await takeRound(bench, subject, participants));
  }
  return subjects.map((subject) => {
    const list = taken.get(subject)!;
    const wallMs = median(list.map((one) => one.wallMs));
    const cold = list.flatMap(({ debate }) => debate?.coldMs ?? []);
    const seconds = (wallMs / 1000).toFixed(2);
    process.stderr.write(`${participants} × ${nameOf(latency)}, ${subject}: ${seconds} s\n`);
    return {
      participants,
      latency,
      subject,
      wallMs,
      coldMs: cold.length > 0 ? median(cold) : null,
      debate: list.find((one) => one.wallMs === wallMs)!.debate,
    };
  });
}

/** The first debate records the answers that all others are given. */
async function recordAnswers(bench: Bench, participants: number): Promise<void> {
  await bench.model.setLatency(NONE);
  await hold(bench, 'PostgreSQL', participants, { isWarm: false });
}

export async function measureAll(bench: Bench): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (const participants of [1, 2, 3]) {
    await recordAnswers(bench, participants);
    const subjects = participants === 3 ? [...STORES, ...Object.keys(PEERS)] : STORES;
    for (const latency of participants === 3 ? [NONE, EVEN, UNEVEN] : [NONE, EVEN]) {
      samples.push(...(await measure(bench, subjects, participants, latency)));
    }
  }
  // Small debates with a slow model leave the machine idle, so that they are held at once.
  const small = STORES.flatMap((store) => [
    measure(bench, [store], 1, SLOW),
    measure(bench, [store], 2, SLOW),
  ]);
  samples.push(...(await Promise.all(small)).flat());
  samples.push(...(await measure(bench, STORES, 3, SLOW)));
  return samples;
}

/** Three participants on each store without latency and with a little. */
export async function measureShortly(bench: Bench): Promise<Sample[]> {
  await recordAnswers(bench, 3);
  const none = await measure(bench, STORES, 3, NONE);
  return [...none, ...(await measure(bench, STORES, 3, EVEN))];
}

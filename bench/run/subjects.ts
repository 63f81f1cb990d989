import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { PostgresServer } from '../../test/postgres-server.ts';
import type { PeerTask } from './ask.ts';
import { type ModelServer, runChild } from './children.ts';
import type { DebateResult, DebateTask } from './debate.ts';

export const SLOTS = 50;
export const STORES = ['PostgreSQL', 'PGlite'] as const;
type Peer = {
  readonly script: string;
  readonly title: string;
  readonly durability?: PeerTask['durability'];
};
export const PEERS: Readonly<Record<string, Peer>> = {
  langgraph: {
    script: 'langgraph',
    title: 'LangGraph.js, PostgreSQL checkpoints, written while the next step runs',
    durability: 'async',
  },
  'langgraph-sync': {
    script: 'langgraph',
    title: 'LangGraph.js, PostgreSQL checkpoints, written before the next step',
    durability: 'sync',
  },
  'plain-script': { script: 'plain-script', title: 'Promise.all, nothing saved' },
};
export type StoreName = (typeof STORES)[number];

/** What all subjects are measured with. */
export type Bench = {
  readonly server: PostgresServer;
  readonly model: ModelServer;
  readonly folder: string;
  readonly brief: string;
};
type PeerResult = { wallMs: number; calls: number };

let serial = 0;

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

export const planFile = ({ folder }: Bench, participants: number): string =>
  join(folder, `plan-${participants}.json`);

/** One debate of the shipped process in a process of its own, on a new store if none is named. */
export async function hold(
  bench: Bench,
  store: StoreName,
  participants: number,
  given: Partial<DebateTask> = {},
): Promise<DebateResult> {
  const place = join(bench.folder, `debate-${++serial}`);
  const location =
    store === 'PGlite'
      ? { dataDirectory: join(place, 'data') }
      : { databaseUrl: await bench.server.createDatabase(`debate_${serial}`) };
  const task: DebateTask = {
    location,
    serverUrl: bench.model.url,
    brief: bench.brief,
    participants,
    slots: SLOTS,
    isWarm: true,
    out: join(place, 'out'),
    planFile: planFile(bench, participants),
    ...given,
  };
  const result = await runChild<DebateResult>('debate', task);
  await rm(place, { recursive: true, force: true });
  return result;
}

export async function askPeer(
  bench: Bench,
  name: string,
  participants: number,
): Promise<PeerResult> {
  const { script, durability } = PEERS[name]!;
  const databaseUrl = await bench.server.createDatabase(`peer_${++serial}`);
  return runChild<PeerResult>(script, {
    planFile: planFile(bench, participants),
    serverUrl: bench.model.url,
    databaseUrl,
    slots: SLOTS,
    durability,
  } satisfies PeerTask);
}

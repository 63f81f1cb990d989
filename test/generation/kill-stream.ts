import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { openDatabase, type StoreLocation } from '../../src/db/open.ts';
import { ensureLocalTenant, LOCAL_TENANT } from '../../src/db/tenants.ts';
import { readSession } from '../../src/session/read.ts';
import { startRun } from '../../src/session/start.ts';
import { seeded } from '../chaos/crash-jobs.ts';
import { startScript } from '../chaos/processes.ts';
import { processOf, stage, step } from '../recipes/build.ts';
import { type Pace, type Served, startScriptedServer } from './scripted-server.ts';

export type Plan = {
  readonly documents: number;
  readonly chars: number;
  readonly kills: number;
  readonly concurrency: number;
  readonly seed: number;
  /** How long the model thinks before each answer. */
  readonly firstMs?: number;
  /** How long answers are streamed before a kill, at least; up to half a second more. */
  readonly streamsMs?: number;
};

const LOST_BYTES = 4_096;
const LOST_MS = 2_000;

/** A text in which no two places are alike, so that a lost or repeated part shows. */
function writeText(key: string, chars: number): string {
  let text = '';
  for (let n = 0; text.length < chars; n++) {
    text += `Sentence ${n} of ${key} says "çà et là" – ${(n * 7_919) % 10_007}.\n`;
  }
  return text;
}

/** Kills the worker process in the middle of its streams again and again, and checks the result. */
export async function killStreams(place: StoreLocation, plan: Plan) {
  const keys = Array.from({ length: plan.documents }, (_, n) => `document_${n + 1}`);
  const texts = new Map(keys.map((key) => [key, writeText(key, plan.chars)]));
  // An answer rests until its worker says that it streams, so that none ends before the kill.
  let isHeld = true;
  const { firstMs, streamsMs = 100 } = plan;
  const pace: Pace = { firstMs, pieceChars: 200, gapMs: 20, isHeld: () => isHeld };
  const server = await startScriptedServer(({ deliverable, soFar }) => {
    const whole = JSON.stringify({ text: texts.get(deliverable.split('/')[1]!)! });
    return { text: whole.startsWith(soFar) ? whole.slice(soFar.length) : whole };
  }, pace);
  try {
    const sessionId = await seed(place, keys);
    const settings = { place, baseUrl: server.url, sessionId, concurrency: plan.concurrency };
    const chance = seeded(plan.seed);
    let inFlight = 0;
    for (let kills = 0; kills < plan.kills; kills++) {
      const worker = startScript('../generation/stream-worker.ts', JSON.stringify(settings));
      await worker.line((line) => line === 'streaming');
      isHeld = false;
      await sleep(streamsMs + chance() * 500);
      const open = server.served.filter((row) => !row.over);
      expect(open.length, `kill ${kills + 1}: nothing was being streamed`).toBeGreaterThan(0);
      isHeld = true;
      worker.child.kill('SIGKILL');
      await worker.ended;
      await expect.poll(() => open.every((row) => row.over)).toBe(true);
      inFlight += open.length;
    }
    pace.gapMs = 0;
    isHeld = false;
    const worker = startScript('../generation/stream-worker.ts', JSON.stringify(settings));
    expect(await worker.line((line) => line.startsWith('session '))).toBe('session completed');
    expect(await worker.ended).toBe(0);
    expect(await readTexts(place, sessionId)).toEqual(Object.fromEntries(texts));
    const extra = server.served.length - plan.documents;
    expect(extra).toBeLessThanOrEqual(inFlight);
    return { kills: plan.kills, inFlight, extra, ...measureLoss(server.served) };
  } finally {
    await server.stop();
  }
}

/**
 * What each killed call had sent beyond what the next one starts from: it may be little text, or
 * text that had only just come.
 */
function measureLoss(served: readonly Served[]) {
  let [lostBytes, lostMs] = [0, 0];
  for (const [index, row] of served.entries()) {
    const next = served.slice(index + 1).find((one) => one.deliverable === row.deliverable);
    const last = row.sent.at(-1);
    if (!next || !last) continue;
    const saved = Buffer.byteLength(next.soFar) - Buffer.byteLength(row.soFar);
    const lost = row.sent.reduce((sum, one) => sum + one.bytes, -saved);
    if (lost === 0) continue;
    const ageMs = last.atMs - firstLost(row, saved).atMs;
    const what = `${lost} bytes of ${ageMs} ms of ${row.deliverable}`;
    expect(lost <= LOST_BYTES || ageMs <= LOST_MS, what).toBe(true);
    [lostBytes, lostMs] = [Math.max(lostBytes, lost), Math.max(lostMs, ageMs)];
  }
  return { lostBytes, lostMs: Math.round(lostMs) };
}

function firstLost({ sent }: Served, saved: number) {
  let bytes = 0;
  return sent.find((one) => {
    bytes += one.bytes;
    return bytes > saved;
  })!;
}

async function withStore<T>(place: StoreLocation, work: (database: Database) => Promise<T>) {
  const database = await openDatabase(place, { backupEveryMs: 0 });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

const seed = (place: StoreLocation, keys: readonly string[]): Promise<string> =>
  withStore(place, async (database) => {
    const { tenantId } = await ensureLocalTenant(database);
    const steps = keys.map((key) => step(key, 'PLAN', 'all_to_one', key, ['seed:draft/']));
    const process = processOf('drafts', [stage('draft', steps)]);
    const models = ['compatible/scripted'];
    const run = { name: 'Drafts', brief: 'Write a lot.', process, models };
    return (await database.asTenant(tenantId, (tx) => startRun(tx, run))).sessionId;
  });

const readTexts = (place: StoreLocation, sessionId: string) =>
  withStore(place, (database) =>
    database.asTenant(LOCAL_TENANT, async (tx) => {
      expect((await readSession(tx, sessionId)).status).toBe('completed');
      const rows = await tx.query<{ document_key: string; content: { text: string } }>(
        `select document_key, content from documents
         where session_id = $1 and kind = 'header_context' and not superseded`,
        [sessionId],
      );
      return Object.fromEntries(rows.map((row) => [row.document_key, row.content.text]));
    }),
  );

import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { DialecticError } from '../../src/errors/errors.ts';
import { CompletionBatch } from '../../src/jobs/completion-batch.ts';
import { commitEffects } from '../../src/jobs/context.ts';
import { recordFailure } from '../../src/jobs/failure.ts';
import { readStanding } from '../../src/jobs/lanes.ts';
import { addGate, cancelSession, removeGate, retrySession } from '../../src/jobs/sessions.ts';
import { DEFAULT_JOB_SETTINGS } from '../../src/jobs/settings.ts';
import type { Job } from '../../src/jobs/types.ts';
import { named, type TestJob } from '../engine.ts';
import { newTenant, openTestStore } from '../stores.ts';
import { Track } from './race-track.ts';

let database: Database;
let tenantId: string;
beforeAll(async () => {
  database = await openTestStore('server', { connections: 16 });
  ({ tenantId } = await newTenant(database));
});

const race = (work: (track: Track) => Promise<void>) => Track.race(database, tenantId, work);
const times = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
const fail = (job: Job): Promise<void> =>
  recordFailure(database, job, new DialecticError('usage_invalid', 'no'), {
    signal: new AbortController().signal,
    log: () => {},
    settings: DEFAULT_JOB_SETTINGS,
  });

describe('parents', () => {
  test('none of 100 is stranded when its last four children end at the same moment', () =>
    race(async (track) => {
      const names = times(100).map((n) => `p${n}`);
      await track.bench.enqueue(...names.map((name) => named(name, { type: 'PLAN' })));
      for (const [name, plan] of await track.claim()) {
        const children = times(4).map((n) => named(`${name}.${n}`));
        await commitEffects(database, plan, { children, next: { waitFor: 'children' } });
      }
      const children = await track.claim();
      const child = (name: string, n: number): Job => children.get(`${name}.${n}`)!;
      for (const name of names.slice(0, 60)) {
        await Promise.all(times(4).map((n) => track.complete(child(name, n))));
      }
      // In groups, as workers complete them: each ends one child of the same twenty parents.
      for (const first of [60, 80]) {
        const group = names.slice(first, first + 20);
        await Promise.all(
          times(4).map((n) => track.complete(...group.map((name) => child(name, n)))),
        );
      }
      const statuses = await track.bench.statuses();
      expect(names.filter((name) => statuses[name] !== 'pending_next_step')).toEqual([]);
    }));

  test('a child that ends before its parent waits wakes it all the same', () =>
    race(async (track) => {
      for (const n of times(40)) {
        const [parentId] = await track.bench.enqueue(named(`p${n}`, { type: 'PLAN' }));
        await track.bench.enqueue(named(`c${n}`, { parentId: parentId! }));
        const jobs = await track.claim();
        await Promise.all([
          track.complete(jobs.get(`c${n}`)!),
          commitEffects(database, jobs.get(`p${n}`)!, { next: { waitFor: 'children' } }),
        ]);
        expect(await track.statusOf(`p${n}`)).toBe('pending_next_step');
      }
    }));

  test('a parent that begins to wait while its last child ends is woken', () =>
    race(async (track) => {
      const [parentId] = await track.bench.enqueue(named('p', { type: 'PLAN' }));
      await track.bench.enqueue(named('c', { parentId: parentId! }));
      const jobs = await track.claim();
      const release = await track.holdEnd(jobs.get('c')!);
      const wait = commitEffects(database, jobs.get('p')!, { next: { waitFor: 'children' } });
      await track.overtake(release, wait);
      expect(await track.statusOf('p')).toBe('pending_next_step');
    }));

  /** A root with three branches, whose leaves run. */
  async function startTree(track: Track, name: string, extra: Partial<TestJob>) {
    const branches = times(3).map((n) => named(`${name}.${n}`, { type: 'PLAN', stepKey: 'b' }));
    const { children } = await track.family(name, branches, extra);
    for (const [branch, plan] of children) {
      const leaves = times(3).map((n) => named(`${branch}.${n}`, { stepKey: `${branch}.s` }));
      await commitEffects(database, plan, { children: leaves, next: { waitFor: 'children' } });
    }
    return [...(await track.claim()).values()];
  }
  const expectOver = async (track: Track): Promise<void> => {
    const statuses = Object.entries(await track.bench.statuses());
    const alive = statuses.filter(([, status]) => /waiting|pending|retry|process/.test(status));
    expect(alive).toEqual([]);
  };

  test('of a stage fail together without getting into each other’s way', () =>
    race(async (track) => {
      for (const n of times(8)) {
        const stage = {
          role: 'lane',
          stageRunId: await track.stageRun(),
          laneId: randomUUID(),
        } as const;
        const leaves = await startTree(track, `r${n}`, stage);
        await Promise.all(leaves.map((leaf, at) => (at % 3 ? track.complete(leaf) : fail(leaf))));
        expect(await track.statusOf(`r${n}`)).toBe('failed');
      }
      await expectOver(track);
    }));

  test('outside of a stage fail together all the same, after a second try', () =>
    race(async (track) => {
      const lost: Job[] = [];
      for (const n of times(3)) {
        const leaves = await startTree(track, `r${n}`, {});
        const workers = leaves.map(
          () => new CompletionBatch(database, (jobs) => lost.push(...jobs)),
        );
        leaves.forEach((leaf, at) => at % 3 && workers[at]!.add(leaf));
        await Promise.all(leaves.map((leaf, at) => (at % 3 ? workers[at]!.drain() : fail(leaf))));
        expect(await track.statusOf(`r${n}`)).toBe('failed');
      }
      expect(lost).toEqual([]);
      await expectOver(track);
    }));
});

describe('waiters', () => {
  test('that are inserted while their prerequisite ends are told', () =>
    race(async (track) => {
      for (const n of times(40)) {
        const [prerequisiteId] = await track.bench.enqueue(named(`p${n}`));
        const job = (await track.claim()).get(`p${n}`)!;
        await Promise.all([
          n % 2 ? track.complete(job) : fail(job),
          track.bench.enqueue(named(`w${n}`, { prerequisiteId: prerequisiteId! })),
        ]);
        expect(await track.statusOf(`w${n}`)).toBe(n % 2 ? 'pending' : 'failed');
        await track.complete(...(await track.claim()).values());
      }
    }));

  test('of a chain are told too, though they know only its first link', () =>
    race(async (track) => {
      for (const n of times(20)) {
        const [first] = await track.bench.enqueue(named(`first${n}`));
        const job = (await track.claim()).get(`first${n}`)!;
        await commitEffects(database, job, { continuation: named(`last${n}`) });
        const last = (await track.claim()).get(`last${n}`)!;
        const waiter = named(`w${n}`, { prerequisiteId: first! });
        if (n === 0) {
          await track.overtake(await track.holdEnd(last), track.bench.enqueue(waiter));
        } else {
          await Promise.all([track.complete(last), track.bench.enqueue(waiter)]);
        }
        expect(await track.statusOf(`w${n}`)).toBe('pending');
        await track.complete(...(await track.claim()).values());
      }
    }));
});

describe('lanes', () => {
  /** Roots whose steps run, one child each. */
  async function startLanes(track: Track, n: number, count: number) {
    const stageRunId = await track.stageRun();
    const lanes = times(count).map(() => randomUUID());
    await track.bench.enqueue(
      ...lanes.map((laneId, lane) =>
        named(`r${n}.${lane}`, {
          type: 'PLAN',
          role: 'lane',
          stageRunId,
          laneId,
          payload: { lane },
        }),
      ),
    );
    const roots = await track.claim();
    for (const [name, root] of roots) {
      const children = [named(`${name}.child`, { stepKey: 'write' })];
      await commitEffects(database, root, { children, next: { waitFor: 'children' } });
    }
    return { stageRunId, lanes, children: await track.claim() };
  }
  const read = (stageRunId: string) =>
    database.asTenant(tenantId, (tx) => readStanding(tx, stageRunId));

  test('that end together at a barrier all pass it', () =>
    race(async (track) => {
      for (const n of times(12)) {
        const { stageRunId, lanes, children } = await startLanes(track, n, 5);
        const passed = new Set<string>();
        const pass = async (root: Job): Promise<void> => {
          const standing = await read(stageRunId);
          const open = lanes.some((lane) => standing.steps.get(lane)?.get('write') === 'running');
          if (!open) {
            passed.add(root.id);
            await track.complete(root);
            return;
          }
          const next = { waitFor: 'lanes', version: standing.version } as const;
          await commitEffects(database, root, { next });
        };
        // Each child ends by itself, and each root looks as soon as it is woken.
        const ends = [...children.values()].map((child) => track.complete(child));
        while (passed.size < 5) {
          const roots = [...(await track.claim()).values()];
          await Promise.all(roots.map(pass));
          if (roots.length > 0) continue;
          await Promise.all(ends);
          const statuses = await track.bench.statuses();
          const asleep = lanes.filter((_, lane) => /waiting/.test(statuses[`r${n}.${lane}`]!));
          expect(asleep, 'lanes that nobody wakes').toEqual([]);
        }
      }
    }));

  test('the last jobs of a step, and the last lanes of a stage, note its end together', () =>
    race(async (track) => {
      for (const n of times(10)) {
        const stageRunId = await track.stageRun();
        const names = times(4).map((lane) => `r${n}.${lane}`);
        const roots = names.map((name) =>
          named(name, { type: 'PLAN', role: 'lane', stageRunId, laneId: randomUUID() }),
        );
        await track.bench.enqueue(...roots);
        const lanes = await track.claim();
        for (const [name, root] of lanes) {
          const children = times(3).map((child) => named(`${name}.${child}`, { stepKey: 'write' }));
          await commitEffects(database, root, { children, next: { waitFor: 'children' } });
        }
        const children = [...(await track.claim()).values()];
        await Promise.all(children.map((child) => track.complete(child)));
        const { steps } = await read(stageRunId);
        expect([...steps.values()].map((lane) => lane.get('write'))).toEqual(
          names.map(() => 'completed'),
        );
        const woken = [...(await track.claim()).values()];
        await Promise.all(woken.map((root) => track.complete(root)));
        const [stage] = await database.asTenant(tenantId, (tx) =>
          tx.query('select state from stage_runs where id = $1', [stageRunId]),
        );
        expect(stage).toEqual({ state: 'completed' });
      }
    }));

  test('a lane that decided on old news looks again instead of sleeping', () =>
    race(async (track) => {
      for (const n of times(20)) {
        const { stageRunId, children } = await startLanes(track, n, 2);
        await track.complete(children.get(`r${n}.0.child`)!);
        const root = (await track.claim()).get(`r${n}.0`)!;
        const { version } = await read(stageRunId);
        const wait = () => commitEffects(database, root, { next: { waitFor: 'lanes', version } });
        const other = children.get(`r${n}.1.child`)!;
        if (n === 0) await track.overtake(await track.holdEnd(other), wait());
        else await Promise.all([track.complete(other), wait()]);
        expect(await track.statusOf(`r${n}.0`)).toBe('pending_next_step');
        await track.complete(...(await track.claim()).values());
      }
    }));
});

describe('people', () => {
  test('who pause in the moment the last child ends lose no wake', () =>
    race(async (track) => {
      const { sessionId } = track.bench;
      for (const n of times(25)) {
        const { children } = await track.family(`p${n}`, [named(`c${n}`)]);
        await Promise.all([
          track.complete(children.get(`c${n}`)!),
          database.asTenant(tenantId, (tx) => addGate(tx, sessionId, 'user')),
        ]);
        expect(await track.statusOf(`p${n}`)).toBe('pending_next_step');
        expect((await track.claim()).size).toBe(0);
        await database.asTenant(tenantId, (tx) => removeGate(tx, sessionId));
        const woken = await track.claim();
        expect([...woken.keys()]).toEqual([`p${n}`]);
        await track.complete(...woken.values());
      }
    }));

  test('who cancel while jobs end, continue, fail and plan leave nothing alive', async () => {
    for (const n of times(25)) {
      await race(async (track) => {
        const names = ['ends', 'goes-on', 'fails', 'plans', 'rests'];
        const { children } = await track.family(
          'p',
          names.map((name) => named(name)),
        );
        await track.bench.enqueue(named('alone'));
        const alone = (await track.claim()).get('alone')!;
        const child = (name: string): Job => children.get(name)!;
        const { sessionId } = track.bench;
        const cancel = database.asTenant(tenantId, (tx) => cancelSession(tx, sessionId));
        await Promise.allSettled([
          n % 2 ? cancel : undefined,
          track.complete(child('ends')),
          commitEffects(database, child('goes-on'), { continuation: named('link') }),
          commitEffects(database, alone, { continuation: named('alone-link') }),
          fail(child('fails')),
          commitEffects(database, child('plans'), {
            children: [named('late')],
            next: { waitFor: 'children' },
          }),
        ]);
        await cancel;
        const statuses = Object.entries(await track.bench.statuses());
        const alive = statuses.filter(([, status]) => /waiting|pending|retry|process/.test(status));
        expect(alive, `round ${n}`).toEqual([]);
      });
    }
  });

  test('who retry while what still ran ends strand no parent', () =>
    race(async (track) => {
      const { sessionId } = track.bench;
      const retry = () => database.asTenant(tenantId, (tx) => retrySession(tx, sessionId));
      for (const n of times(20)) {
        const branches = [named(`b${n}`, { type: 'PLAN' }), named(`bad${n}`)];
        const { children } = await track.family(`p${n}`, branches);
        await commitEffects(database, children.get(`b${n}`)!, {
          children: [named(`slow${n}`)],
          next: { waitFor: 'children' },
        });
        const slow = (await track.claim()).get(`slow${n}`)!;
        await fail(children.get(`bad${n}`)!);
        if (n === 0) await track.overtake(await track.holdEnd(slow), retry());
        else await Promise.all([track.complete(slow), retry()]);
        for (let left = 2; left > 0; ) {
          const again = [...(await track.claim()).values()];
          expect(again.length, 'jobs that go again').toBeGreaterThan(0);
          left -= (await track.complete(...again)).length;
        }
        expect(await track.statusOf(`p${n}`)).toBe('pending_next_step');
        await track.complete(...(await track.claim()).values());
      }
    }));

  test('who retry while a chain of a failed lane goes on meet no deadlock', () =>
    race(async (track) => {
      const { sessionId } = track.bench;
      const retry = () => database.asTenant(tenantId, (tx) => retrySession(tx, sessionId));
      for (const n of times(20)) {
        const place = { stageRunId: await track.stageRun(), laneId: randomUUID() };
        const steps = ['bad', 'long'].map((name) => named(`${name}${n}`, { stepKey: name }));
        const lane = { ...place, role: 'lane' } as const;
        const { children } = await track.family(`root${n}`, steps, lane);
        await fail(children.get(`bad${n}`)!);
        const long = children.get(`long${n}`)!;
        const goOn = commitEffects(database, long, { continuation: named(`link${n}`) });
        await Promise.all([goOn, retry()]);
        const again = await track.claim();
        expect([...again.keys()].toSorted()).toEqual([`bad${n}`, `link${n}`]);
        await track.complete(...again.values());
        expect(await track.statusOf(`root${n}`)).toBe('pending_next_step');
        await track.complete(...(await track.claim()).values());
      }
    }));
});

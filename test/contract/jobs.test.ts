import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { readEvents } from '../../src/db/events.ts';
import { openNotices } from '../../src/db/notices.ts';
import { DialecticError } from '../../src/errors/errors.ts';
import type { JobContext, JobHandler } from '../../src/jobs/context.ts';
import { addGate, cancelSession, removeGate, retrySession } from '../../src/jobs/sessions.ts';
import { isOver, type JobStatus, TRANSITIONS } from '../../src/jobs/transitions.ts';
import { Bench, named, untilLookedAgain, withWorker } from '../engine.ts';
import { mayFollow } from '../simulation/job-status.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';

const nameOf = ({ job }: JobContext): string => job.payload['name'] as string;
const nothing: JobHandler = async () => {};

/** Plans the steps of its payload one after another, each with its children. */
const planSteps: JobHandler = async ({ job, commit }) => {
  const steps = job.payload['steps'] as string[][];
  const planned = job.payload['planned'] as { n: number };
  const next = steps[planned.n];
  if (!next) return;
  planned.n++;
  await commit({
    write: async (tx) => {
      await tx.query('update jobs set payload = $1 where id = $2', [job.payload, job.id]);
    },
    children: next.map((name) => named(name, { stepKey: `step-${planned.n}` })),
    next: { waitFor: 'children' },
  });
};
const plan = (name: string, ...steps: string[][]) =>
  named(name, { type: 'PLAN', payload: { steps, planned: { n: 0 } } });

describeOnBoth('jobs', (kind) => {
  let database: Database;
  let tenantId: string;
  beforeAll(async () => {
    database = await openTestStore(kind);
    ({ tenantId } = await newTenant(database));
  });
  const bench = () => Bench.open(database, tenantId);
  const asTenant: Database['asTenant'] = (id, work) => database.asTenant(id, work);

  test('may change status exactly as the table in the program says', async () => {
    const statuses = Object.keys(TRANSITIONS) as JobStatus[];
    const pairs = statuses.flatMap((from) => statuses.map((to) => [from, to] as const));
    const rows = await database.asWorker((tx) =>
      tx.query<{ may: boolean }>(
        'select may_follow(f, t) as may from unnest($1::text[], $2::text[]) as p (f, t)',
        [pairs.map(([from]) => from), pairs.map(([, to]) => to)],
      ),
    );
    expect(rows.map((row) => row.may)).toEqual(pairs.map(([from, to]) => mayFollow(from, to)));
    const ends = await database.asWorker((tx) =>
      tx.query('select is_over(s), is_open(s) from unnest($1::text[]) as s', [statuses]),
    );
    expect(ends).toEqual(statuses.map((s) => ({ is_over: isOver(s), is_open: !isOver(s) })));
  });

  test('that go another way are refused with a code', async () => {
    const run = await bench();
    const [id] = await run.enqueue(named('a'));
    const jump = asTenant(tenantId, (tx) =>
      tx.query(`update jobs set status = 'completed' where id = $1`, [id]),
    );
    await expect(jump).rejects.toMatchObject({ code: 'job_transition_refused' });
  });

  test('fan out, fan in and run their steps in order', async () => {
    const run = await bench();
    const order: string[] = [];
    const execute: JobHandler = async (context) => {
      if (context.job.sessionId === run.sessionId) order.push(nameOf(context));
    };
    await run.enqueue(plan('root', ['a', 'b', 'c'], ['d'], ['e', 'f']));
    const all = Object.fromEntries(
      ['root', 'a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, 'completed']),
    );
    await withWorker(database, { PLAN: planSteps, EXECUTE: execute }, () => run.settled(all));
    expect(order.slice(0, 3).toSorted()).toEqual(['a', 'b', 'c']);
    expect(order[3]).toBe('d');
    expect(order.slice(4).toSorted()).toEqual(['e', 'f']);
  });

  test('a permanent failure fails the parent, cancels what has not begun and tells the user', async () => {
    const run = await bench();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const execute: JobHandler = async (context) => {
      if (nameOf(context) === 'slow') await released;
      if (nameOf(context) === 'bad') throw new DialecticError('usage_invalid', 'no good');
    };
    await run.enqueue(plan('root', ['slow', 'bad', 'late'], ['never']));
    await withWorker(
      database,
      { PLAN: planSteps, EXECUTE: execute },
      async () => {
        await run.settled({ root: 'failed', slow: 'processing', bad: 'failed', late: 'cancelled' });
        release();
        await run.settled({ root: 'failed', slow: 'completed', bad: 'failed', late: 'cancelled' });
      },
      { concurrency: 2 },
    );
    const rows = await run.rows();
    expect(rows.map((row) => row.error?.code)).toEqual([
      'child_failed',
      undefined,
      'usage_invalid',
      'parent_ended',
    ]);
    const notices = await asTenant(tenantId, (tx) => openNotices(tx));
    expect(notices.map((notice) => notice.message)).toContain(
      'A EXECUTE job of step step-1 failed: no good',
    );
  });

  test('go again after a retry, without repeating what succeeded', async () => {
    const run = await bench();
    const runs: string[] = [];
    let broken = true;
    const execute: JobHandler = async (context) => {
      runs.push(nameOf(context));
      if (nameOf(context) === 'bad' && broken) throw new DialecticError('usage_invalid', 'no');
    };
    await run.enqueue(plan('root', ['good', 'bad', 'late'], ['end']));
    await withWorker(
      database,
      { PLAN: planSteps, EXECUTE: execute },
      async () => {
        await run.settled({ root: 'failed', good: 'completed', bad: 'failed', late: 'cancelled' });
        broken = false;
        await asTenant(tenantId, (tx) => retrySession(tx, run.sessionId));
        const done = ['root', 'good', 'bad', 'late', 'end'].map((name) => [name, 'completed']);
        await run.settled(Object.fromEntries(done));
      },
      { concurrency: 1 },
    );
    expect(runs).toEqual(['good', 'bad', 'bad', 'late', 'end']);
  });

  test.each([
    ['any', null, ['bad', 'bad', 'good'], 'completed'],
    ['any', null, ['bad', 'bad', 'bad'], 'failed'],
    ['quorum', null, ['good', 'good', 'bad'], 'completed'],
    ['quorum', null, ['good', 'bad', 'bad'], 'failed'],
    ['quorum', 1, ['good', 'bad', 'bad'], 'completed'],
  ] as const)(
    'under policy %s (%s) children %j end the parent as %s',
    async (policy, quorum, kinds, end) => {
      const run = await bench();
      const execute: JobHandler = async ({ job }) => {
        if (job.payload['kind'] === 'bad') throw new DialecticError('usage_invalid', 'no');
      };
      const planOnce: JobHandler = async ({ job, commit }) => {
        if (job.degraded || job.payload['once'] === 'done') return;
        await commit({
          write: async (tx) => {
            await tx.query(
              `update jobs set payload = payload || '{"once": "done"}' where id = $1`,
              [job.id],
            );
          },
          children: kinds.map((kind, n) =>
            named(`${kind}-${n}`, { policy, quorum, stepKey: 's', payload: { kind } }),
          ),
          next: { waitFor: 'children' },
        });
      };
      await run.enqueue(named('root', { type: 'PLAN' }));
      await withWorker(database, { PLAN: planOnce, EXECUTE: execute }, async () => {
        await expect.poll(async () => (await run.statuses())['root']).toBe(end);
      });
      const root = (await run.rows()).find((row) => row.name === 'root')!;
      expect(root.degraded).toBe(true);
    },
  );

  test('wait for a prerequisite, all of them, and fail with it', async () => {
    const run = await bench();
    const execute: JobHandler = async (context) => {
      if (nameOf(context) === 'bad') throw new DialecticError('usage_invalid', 'no');
    };
    const [good, bad] = await run.enqueue(named('good'), named('bad'));
    await run.enqueue(
      named('w1', { prerequisiteId: good! }),
      named('w2', { prerequisiteId: good! }),
      named('x1', { prerequisiteId: bad! }),
    );
    const done = {
      good: 'completed',
      bad: 'failed',
      w1: 'completed',
      w2: 'completed',
      x1: 'failed',
    };
    await withWorker(database, { EXECUTE: execute }, async () => {
      await run.settled(done);
      // What comes after the end of its prerequisite is told at once.
      await run.enqueue(
        named('w3', { prerequisiteId: good! }),
        named('x2', { prerequisiteId: bad! }),
      );
      await run.settled({ ...done, w3: 'completed', x2: 'failed' });
    });
  });

  test('a chain of continuations counts as one, for parents and for waiters', async () => {
    const run = await bench();
    const ended: string[] = [];
    const execute: JobHandler = async (context) => {
      const { job, commit } = context;
      ended.push(nameOf(context));
      const link = Number(job.payload['link'] ?? 0);
      if (nameOf(context).startsWith('chain') && link < 3) {
        await commit({ continuation: named(`chain-${link + 1}`, { payload: { link: link + 1 } }) });
      }
    };
    await run.enqueue(plan('root', ['chain'], ['after']));
    const waiting = async () => {
      const chain = (await run.rows()).find((row) => row.name === 'chain');
      if (chain) await run.enqueue(named('waiter', { prerequisiteId: chain.id }));
      return chain !== undefined;
    };
    await withWorker(database, { PLAN: planSteps }, () => expect.poll(waiting).toBe(true));
    const names = ['root', 'chain', 'chain-1', 'chain-2', 'chain-3', 'after', 'waiter'];
    await withWorker(database, { PLAN: planSteps, EXECUTE: execute }, () =>
      run.settled(Object.fromEntries(names.map((name) => [name, 'completed']))),
    );
    expect(ended.indexOf('after')).toBeGreaterThan(ended.indexOf('chain-3'));
    expect(ended.indexOf('waiter')).toBeGreaterThan(ended.indexOf('chain-3'));
  });

  test('RENDER jobs block nobody, not even by failing', async () => {
    const run = await bench();
    const render: JobHandler = async () => {
      throw new DialecticError('usage_invalid', 'cannot draw');
    };
    const planRender: JobHandler = async ({ job, commit }) => {
      if (job.payload['done']) return;
      await commit({
        write: async (tx) => {
          await tx.query(`update jobs set payload = payload || '{"done": true}' where id = $1`, [
            job.id,
          ]);
        },
        children: [named('draw', { type: 'RENDER' }), named('work')],
        next: { waitFor: 'children' },
      });
    };
    await run.enqueue(named('root', { type: 'PLAN' }));
    await withWorker(database, { PLAN: planRender, EXECUTE: nothing, RENDER: render }, () =>
      run.settled({ root: 'completed', draw: 'failed', work: 'completed' }),
    );
  });

  test('a passing fault is tried again, at most as often as allowed', async () => {
    const run = await bench();
    let tries = 0;
    const execute: JobHandler = async (context) => {
      if (nameOf(context) === 'flaky' && ++tries === 3) return;
      throw new DialecticError('conflict', 'busy', {
        retryable: true,
        details: { retryAfterMs: 5 },
      });
    };
    await run.enqueue(named('flaky'), named('hopeless', { maxAttempts: 2 }));
    await withWorker(database, { EXECUTE: execute }, () =>
      run.settled({ flaky: 'completed', hopeless: 'failed' }),
    );
    expect(tries).toBe(3);
    expect((await run.rows()).map((row) => row.attempt)).toEqual([2, 2]);
  });

  test('rest while a gate is closed, keep their status, and go on when it opens', async () => {
    const run = await bench();
    await asTenant(tenantId, async (tx) => {
      await addGate(tx, run.sessionId, 'user');
      await addGate(tx, run.sessionId, 'budget');
    });
    await run.enqueue(plan('root', ['a']));
    await withWorker(database, { PLAN: planSteps, EXECUTE: nothing }, async () => {
      await untilLookedAgain(database);
      expect(await run.statuses()).toEqual({ root: 'pending' });
      await asTenant(tenantId, (tx) => removeGate(tx, run.sessionId, 'user'));
      await untilLookedAgain(database);
      expect(await run.statuses()).toEqual({ root: 'pending' });
      await asTenant(tenantId, (tx) => removeGate(tx, run.sessionId));
      await run.settled({ root: 'completed', a: 'completed' });
    });
  });

  test('a job that pauses its session goes back and never passes through failed', async () => {
    const run = await bench();
    let paid = false;
    const execute: JobHandler = async ({ commit }) => {
      if (!paid) await commit({ next: { pause: 'funds' } });
    };
    await run.enqueue(named('a'));
    await withWorker(database, { EXECUTE: execute }, async () => {
      const gates = () =>
        asTenant(tenantId, (tx) =>
          tx.query('select gates from sessions where id = $1', [run.sessionId]),
        );
      await expect.poll(gates).toEqual([{ gates: ['funds'] }]);
      expect(await run.statuses()).toEqual({ a: 'pending' });
      paid = true;
      await asTenant(tenantId, (tx) => removeGate(tx, run.sessionId, 'funds'));
      await run.settled({ a: 'completed' });
    });
  });

  test('are cancelled with their session, also those that run', async () => {
    const run = await bench();
    let stopped: unknown;
    const execute: JobHandler = async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      stopped = (signal.reason as DialecticError).code;
      signal.throwIfAborted();
    };
    await run.enqueue(plan('root', ['a', 'b']));
    await withWorker(
      database,
      { PLAN: planSteps, EXECUTE: execute },
      async () => {
        await run.settled({ root: 'waiting_for_children', a: 'processing', b: 'pending' });
        await asTenant(tenantId, (tx) => cancelSession(tx, run.sessionId));
        await run.settled({ root: 'cancelled', a: 'cancelled', b: 'cancelled' });
        await expect.poll(() => stopped).toBe('lease_lost');
      },
      { concurrency: 1 },
    );
  });

  const SUPERSEDE = `update jobs set status = 'superseded' where id = $1`;
  test('a finished job can be superseded, a living or a cancelled one cannot', async () => {
    const run = await bench();
    const supersede = (id: string | undefined) =>
      asTenant(tenantId, (tx) => tx.query(SUPERSEDE, [id]));
    const refused = expect.objectContaining({ code: 'job_transition_refused' });
    const [a] = await run.enqueue(named('a'));
    await expect(supersede(a)).rejects.toEqual(refused);
    await withWorker(database, { EXECUTE: nothing }, () => run.settled({ a: 'completed' }));
    await supersede(a);
    const [b] = await run.enqueue(named('b'));
    await asTenant(tenantId, (tx) => cancelSession(tx, run.sessionId));
    await expect(supersede(b)).rejects.toEqual(refused);
  });

  test('with the same idempotency key are one job', async () => {
    const run = await bench();
    const first = await run.enqueue(named('a', { idempotencyKey: 'k' }));
    const again = await run.enqueue(named('b', { idempotencyKey: 'k' }), named('c'));
    expect(again[0]).toBe(first[0]);
    expect(await run.statuses()).toEqual({ a: 'pending', c: 'pending' });
  });

  test('what is wrong with a new job is refused with a code, and nothing is kept', async () => {
    const run = await bench();
    const [parent] = await run.enqueue(named('parent'));
    await withWorker(database, { EXECUTE: nothing }, () => run.settled({ parent: 'completed' }));
    const a = '00000000-0000-7000-8000-00000000000a';
    const b = '00000000-0000-7000-8000-00000000000b';
    const bad: [string, Parameters<typeof run.enqueue>][] = [
      ['job_type_unknown', [{ ...named('x'), type: 'DANCE' as never }]],
      ['job_payload_invalid', [{ ...named('x'), payload: [] as never }]],
      [
        'job_cycle',
        [named('x', { id: a, prerequisiteId: b }), named('y', { id: b, prerequisiteId: a })],
      ],
      ['parent_finished', [named('x', { parentId: parent! })]],
      ['not_found', [named('x', { prerequisiteId: a })]],
    ];
    for (const [code, jobs] of bad) {
      await expect(run.enqueue(...jobs), code).rejects.toMatchObject({ code });
    }
    expect(await run.statuses()).toEqual({ parent: 'completed' });
  });

  test('without a handler fail for good instead of going round', async () => {
    const run = await bench();
    await run.enqueue(named('a', { maxAttempts: 1 }));
    await withWorker(database, {}, () => run.settled({ a: 'failed' }));
  });

  test('every change of status is an event', async () => {
    const run = await bench();
    const [id] = await run.enqueue(named('a'));
    await withWorker(database, { EXECUTE: nothing }, () => run.settled({ a: 'completed' }));
    const topic = `session/${run.sessionId}`;
    const told = async () =>
      (await readEvents(database, { tenantId, topic, after: null })).flatMap(
        ({ kind, payload: { jobId, status } }) => (jobId === id ? [[kind, status]] : []),
      );
    await expect.poll(told, { timeout: 20_000 }).toEqual([
      ['job-created', 'pending'],
      ['job-started', 'processing'],
      ['job-completed', 'completed'],
    ]);
  });
});

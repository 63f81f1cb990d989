import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { DialecticError } from '../../src/errors/errors.ts';
import { createHandlers } from '../../src/handlers/create-handlers.ts';
import type { JobContext } from '../../src/jobs/context.ts';
import type { ModelsConfig } from '../../src/models/config.ts';
import { createModelProvider } from '../../src/models/provider.ts';
import { readSession } from '../../src/session/read.ts';
import { withWorker } from '../engine.ts';
import { newTenant, openTestStore } from '../stores.ts';
import { type ServerPlan, startModelServer } from './model-server.ts';
import { configFor, RATES, startDebate } from './sessions.ts';

let database: Database;
beforeAll(async () => {
  database = await openTestStore('embedded');
});

const LATER = { input: 700, output: 900 };

/** Runs a debate whose models become dearer as soon as `isLater`, and reads what its calls cost. */
async function runWithTwoPrices(
  isLater: () => boolean,
  plan: ServerPlan,
  around: (context: JobContext) => JobContext = (context) => context,
) {
  const { tenantId } = await newTenant(database);
  const server = await startModelServer(plan);
  onTestFinished(() => server.stop());
  const { sessionId } = await startDebate(database, tenantId, 1);
  const first = configFor(server.url);
  const second = configFor(server.url, 2_000, LATER);
  const config: ModelsConfig = {
    ...first,
    get models() {
      return isLater() ? second.models : first.models;
    },
  };
  const handlers = createHandlers({ database, config, provider: createModelProvider(first) });
  const status = async () =>
    (await database.asTenant(tenantId, (tx) => readSession(tx, sessionId))).status;
  await withWorker(
    database,
    { ...handlers, EXECUTE: (context) => handlers.EXECUTE!(around(context)) },
    () => expect.poll(status, { interval: 50 }).toBe('completed'),
  );
  return database.asTenant(tenantId, (tx) =>
    tx.query<{ input: number; output: number; cost: number; estimated: boolean }>(
      `select c.input_tokens as input, c.output_tokens as output, c.cost_micros::float8 as cost,
         c.usage_estimated as estimated
       from model_calls c join jobs j on j.tenant_id = c.tenant_id and j.id = c.job_id
       where c.session_id = $1 order by c.id`,
      [sessionId],
    ),
  );
}

const at = ({ input, output }: typeof RATES, call: { input: number; output: number }): number =>
  call.input * input + call.output * output;

test('a price that changes while calls are in flight is not theirs', async () => {
  let isLater = false;
  // Every answer makes the models dearer while it streams, and the next call is held at that price.
  const calls = await runWithTwoPrices(() => isLater, {
    rest: () => {
      isLater = true;
      return Promise.resolve();
    },
  });
  expect(calls.length).toBe(4);
  expect(calls[0]!.cost).toBe(at(RATES, calls[0]!));
  expect(calls.at(-1)!.cost).toBe(at(LATER, calls.at(-1)!));
});

test('a call whose process died is paid at the price at which its money is held', async () => {
  let victim: string | undefined;
  let hasDied = false;
  const calls = await runWithTwoPrices(
    () => hasDied,
    {},
    (context) => {
      victim ??= context.job.id;
      if (hasDied || context.job.id !== victim) return context;
      // As for a process that ends between the last piece and the commit: the call stays `sent`.
      const commit = (): never => {
        hasDied = true;
        throw new DialecticError('database_unreachable', 'The store is away.');
      };
      return { ...context, commit };
    },
  );
  const recovered = calls.filter(({ estimated }) => estimated);
  expect(recovered.length).toBe(1);
  expect(recovered[0]!.cost).toBe(at(RATES, recovered[0]!));
});

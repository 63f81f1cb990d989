import type { Database } from '../../src/db/database.ts';
import type { Transaction } from '../../src/db/transaction.ts';
import { createHandlers } from '../../src/handlers/create-handlers.ts';
import { type ModelsConfig, readModelsConfig } from '../../src/models/config.ts';
import { createModelProvider } from '../../src/models/provider.ts';
import type { ModelProvider } from '../../src/models/types.ts';
import { startRun } from '../../src/session/start.ts';
import { untilRested, withWorker } from '../engine.ts';
import { processOf, stage, step } from '../recipes/build.ts';

export const MODELS = ['compatible/a', 'compatible/b'];
/** Micro-dollars for one token. */
export const RATES = { input: 3, output: 15 };

/** Two models whose price only the configuration knows. */
export const configFor = (
  baseUrl: string,
  maxOutputTokens = 2_000,
  price: typeof RATES | null = RATES,
): ModelsConfig => {
  const model = { maxOutputTokens, ...(price && { price }) };
  return readModelsConfig(
    { DIALECTIC_BASE_URL: baseUrl },
    { models: Object.fromEntries(MODELS.map((id) => [id, model])) },
  );
};

/** A debate of two stages: each lane drafts, then reviews all drafts. */
export function startDebate(
  database: Database,
  tenantId: string,
  drafts: number,
  alsoWrite?: (tx: Transaction, started: { sessionId: string }) => Promise<void>,
) {
  const keys = Array.from({ length: drafts }, (_, n) => `draft_${n}`);
  const process = processOf('debate', [
    stage(
      'draft',
      keys.map((key) => step(key, 'PLAN', 'all_to_one', key, ['seed:draft/'])),
    ),
    stage('review', [
      step('review', 'EXECUTE', 'all_to_one', 'review', [
        'seed:review/',
        'header:draft/draft_0*@all',
      ]),
    ]),
  ]);
  const run = { name: 'Drafts', brief: 'Write a lot.', process, models: MODELS };
  return database.asTenant(tenantId, async (tx) => {
    const started = await startRun(tx, run);
    await alsoWrite?.(tx, started);
    return started;
  });
}

/** Works on a session until it is over or rests behind a gate; says how it ended. */
export async function work(
  database: Database,
  place: { tenantId: string; sessionId: string },
  config: ModelsConfig,
  provider: ModelProvider = createModelProvider(config),
): Promise<string> {
  const handlers = createHandlers({ database, config, provider });
  const { status, gates } = await withWorker(
    database,
    handlers,
    (worker) => untilRested(worker, database, place),
    { concurrency: 6 },
  );
  return gates.length > 0 ? gates.join() : status;
}

import type { Database } from '../../src/db/database.ts';
import { createHandlers } from '../../src/handlers/create-handlers.ts';
import type { JobHandler } from '../../src/jobs/context.ts';
import { readModelsConfig } from '../../src/models/config.ts';
import { createModelProvider } from '../../src/models/provider.ts';
import type { ModelProvider, ModelRequest } from '../../src/models/types.ts';
import type { PlannedJob } from '../../src/planning/types.ts';
import { contractOf } from '../../src/recipe/contract.ts';
import type { Process } from '../../src/recipe/types.ts';
import { exportSession } from '../../src/session/export.ts';
import { readSession } from '../../src/session/read.ts';
import { startRun } from '../../src/session/start.ts';
import { summarise } from '../../src/session/summary.ts';
import { untilRested, withWorker } from '../engine.ts';
import { sampleDocument } from '../recipes/sample.ts';
import { writeTrivially } from './trivial.ts';

type Place = { readonly database: Database; readonly tenantId: string };

export type PartlyRun = {
  readonly process: Process;
  readonly models: readonly string[];
  readonly provider: ModelProvider;
  readonly untilStage?: string;
  /** Which jobs go to the models; samples of the right shape stand in for all others. */
  readonly writes: (planned: PlannedJob) => boolean;
};

/** Runs a process in which models write only some of the documents, and says what came of it. */
export async function runPartly(place: Place, { provider, writes, ...run }: PartlyRun) {
  const { database, tenantId } = place;
  const brief = 'Bread on the web.';
  const { sessionId } = await database.asTenant(tenantId, (tx) =>
    startRun(tx, { name: 'P', brief, ...run }),
  );
  const handlers = createHandlers({ database, provider, config: readModelsConfig({}) });
  const sample = writeTrivially((planned) => sampleContent(run.process, planned));
  const execute: JobHandler = (context) => {
    const { planned } = context.job.payload as unknown as { planned: PlannedJob };
    return (writes(planned) ? handlers.EXECUTE! : sample)(context);
  };
  await withWorker(database, { ...handlers, EXECUTE: execute }, (worker) =>
    untilRested(worker, database, { tenantId, sessionId }),
  );
  return readOutcome(place, sessionId);
}

/** How a session stands, for programs and in the first page of its folder. */
export const readOutcome = ({ database, tenantId }: Place, sessionId: string) =>
  database.asTenant(tenantId, async (tx) => {
    const session = await readSession(tx, sessionId);
    const exported = await exportSession(tx, session);
    const result = await summarise(tx, session, exported);
    return { session, result, readme: exported.files.get('project_readme.md')! };
  });

/** A document in which every text names its key and its lane. */
function sampleContent(process: Process, planned: PlannedJob): unknown {
  const stage = process.stages.find((one) => one.key === planned.stage)!;
  const step = stage.steps.find((one) => one.key === planned.step)!;
  const { content } = sampleDocument(contractOf(stage, step)!);
  const mark = markOf(planned.documentKey, Number(planned.identity.split('/')[3]));
  return JSON.parse(JSON.stringify(content).replaceAll('"at.', `"${mark} at.`));
}

/** What the texts of a sample begin with. */
export const markOf = (documentKey: string, ordinal: number): string => `${documentKey}#${ordinal}`;

/** The offline authors, with a record of what they were asked. */
export function recordOffline() {
  const provider = createModelProvider(readModelsConfig({}));
  const asked: ModelRequest[] = [];
  const recording: ModelProvider = {
    ...provider,
    generate: (request, options) => {
      asked.push(request);
      return provider.generate(request, options);
    },
  };
  return { provider: recording, asked };
}

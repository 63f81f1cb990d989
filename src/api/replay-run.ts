import { requireFolder } from '../documents/owned-folder.ts';
import { DialecticError } from '../errors/errors.ts';
import { readPace } from '../models/recorded/options.ts';
import type { RecordingConfig } from '../models/recorded/recording.ts';
import { requireModels } from '../models/require-models.ts';
import { goOnAsRecorded } from '../replay/go-on-as-recorded.ts';
import { planReplay, type RecordedRun, readRecordedRun } from '../replay/read-recorded-run.ts';
import { startAsRecorded } from '../replay/start-as-recorded.ts';
import type { Store } from './store.ts';
import { type WorkEvent, type WorkOptions, workOnRun } from './work-on-run.ts';

/** An exported run, and how its answers are given once more. */
type AnswerOptions = {
  /** The folder that the run, or an export of it, has written. */
  readonly recorded: string;
  /** Characters a second of each answer; 0, or absent, sends it whole. */
  readonly pace?: number | undefined;
  /** Who writes what was not recorded; such a request is refused where absent. */
  readonly fill?: 'offline' | undefined;
};

export type ReplayOptions = AnswerOptions & {
  /** A shipped process or a recipe folder; the recipe of the recorded run where absent. */
  readonly recipe?: string | undefined;
  /** The folder that the replay will be written to: refused now rather than after a stage. */
  readonly out?: string | undefined;
};

export type WorkOnReplayOptions = AnswerOptions & WorkOptions;

/** The session that a replay became, and what is replayed in it. */
export type StartedReplay = {
  readonly session: string;
  readonly project: string;
  /** The participants of the recorded run. */
  readonly models: readonly string[];
  /** The name of the process that is followed. */
  readonly process: string;
};

/** Saves an exported run as a new session, whose participants give the answers of then. */
export async function startReplay(store: Store, options: ReplayOptions): Promise<StartedReplay> {
  const recorded = await readRecordedRun(options.recorded);
  await requireFolder(options.out, null);
  const run = await planReplay(recorded, options.recipe);
  requireModels(run.models, { ...store.models, recording: readAnswering(recorded, options) });
  const sessionId = await store.database.asTenant(store.tenantId, (tx) =>
    startAsRecorded(tx, recorded, run),
  );
  const { project, models } = recorded.settings;
  return {
    session: sessionId,
    project: project.name,
    models: models.map(({ model }) => model),
    process: run.process.name,
  };
}

/**
 * Works on a replay to where the recorded run ended: where people approved a stage or said something
 * then, so does the replay. Yields what happens as for any run.
 */
export async function* workOnReplay(
  store: Store,
  sessionId: string,
  { recorded: folder, pace, fill, ...options }: WorkOnReplayOptions,
): AsyncGenerator<WorkEvent, void, void> {
  const { database, tenantId } = store;
  const recorded = await readRecordedRun(folder);
  const recording = readAnswering(recorded, { pace, fill });
  const replaying = { ...store, models: { ...store.models, recording } };
  let { after } = options;
  let goesOn = true;
  while (goesOn) {
    goesOn = false;
    for await (const event of workOnRun(replaying, sessionId, { ...options, after })) {
      if (event.kind === 'caught-up') after = event.cursor;
      if (event.kind === 'run-rested' && !options.signal?.aborted) {
        goesOn = await database.asTenant(tenantId, (tx) => goOnAsRecorded(tx, sessionId, recorded));
      }
      if (!goesOn) yield event;
    }
  }
}

function readAnswering(
  { recording }: RecordedRun,
  { pace = 0, fill }: Omit<AnswerOptions, 'recorded'>,
): RecordingConfig {
  return { recording, pace: readPace(String(pace), usage), fill: fill ?? null };
}

const usage = (why: string): DialecticError => new DialecticError('usage_invalid', `The ${why}.`);

import { Command } from 'commander';
import { requireFolder } from '../documents/owned-folder.ts';
import { DialecticError } from '../errors/errors.ts';
import type { ModelsConfig } from '../models/config.ts';
import { readPace } from '../models/recorded/options.ts';
import type { RecordingConfig } from '../models/recorded/recording.ts';
import { requireModels } from '../models/require-models.ts';
import type { Process } from '../recipe/types.ts';
import { goOnAsRecorded } from '../replay/go-on-as-recorded.ts';
import { planReplay, type RecordedRun, readRecordedRun } from '../replay/read-recorded-run.ts';
import { startRun } from '../session/start.ts';
import type { RunResult } from '../session/summary.ts';
import { readConfiguration } from './configuration.ts';
import { driveSession } from './drive.ts';
import { printResult, tell } from './output.ts';
import { describeRecording, describeReplay } from './replay-text.ts';
import { readConcurrency, requireCompleted } from './run.ts';
import { type OpenStore, withStore } from './store.ts';

/** How a recording answers, as options say it. */
export type RecordingOptions = { pace?: string; fill?: string };

type ReplayOptions = RecordingOptions & {
  out?: string;
  recipe?: string;
  concurrency: string;
  data?: string;
  json?: boolean;
};

/** Fast enough for a whole debate in half a minute, slow enough to see where it stands. */
const DEFAULT_PACE = '150000';

export const addPaceOption = (command: Command): Command =>
  command.option(
    '--pace <n>',
    'characters a second of each answer; 0 sends it whole',
    DEFAULT_PACE,
  );

/** `dialectic replay`: an exported run once more, with the answers that were given then. */
export function replayCommand(): Command {
  return addPaceOption(new Command('replay'))
    .description('replay an exported run with its recorded answers; calls no model, costs nothing')
    .argument('<folder>', 'the folder that a run or an export has written')
    .option('-o, --out <dir>', 'the folder to write')
    .option('--fill <author>', 'offline: the offline author writes what was not recorded')
    .option('--recipe <name>', "a shipped process or a recipe folder (default: the run's own)")
    .option('-c, --concurrency <n>', 'answers at a time', '4')
    .option('--data <dir>', 'data directory (default: DIALECTIC_DATA or ~/.dialectic)')
    .option('--json', 'print the result as JSON')
    .action(async (folder: string, options: ReplayOptions) => {
      const concurrency = readConcurrency(options.concurrency);
      const recorded = await readRecordedRun(folder);
      const recording = readRecordingOptions(recorded, options);
      await requireFolder(options.out, null);
      const config = { ...readConfiguration(), recording };
      const { result, process } = await withStore(options.data, (store) =>
        carryOutReplay(store, recorded, { ...options, concurrency, config }),
      );
      printResult(options.json === true, result, describeReplay(result, process, options.out));
      requireCompleted(result);
    });
}

const usage = (why: string): DialecticError => new DialecticError('usage_invalid', `--${why}.`);

export function readRecordingOptions(
  { recording }: Pick<RecordedRun, 'recording'>,
  { pace = DEFAULT_PACE, fill }: RecordingOptions,
): RecordingConfig {
  if (fill !== undefined && fill !== 'offline') throw usage(`fill takes offline, not "${fill}"`);
  return { recording, pace: readPace(pace, usage), fill: fill ?? null };
}

type CarryOut = {
  readonly out?: string | undefined;
  readonly recipe?: string | undefined;
  readonly concurrency: number;
  readonly config: ModelsConfig;
};

/** What came of a replay, and the process that it followed. */
type Replayed = { readonly result: RunResult; readonly process: Process };

/** Starts a replay and works on it to where the recorded run ended. */
export async function carryOutReplay(
  store: OpenStore,
  recorded: RecordedRun,
  { out, recipe, concurrency, config }: CarryOut,
): Promise<Replayed> {
  const { database, tenantId } = store;
  const planned = await planReplay(recorded, recipe);
  requireModels(planned.models, config);
  for (const line of describeRecording(recorded, planned.process.name)) tell(line);
  const { sessionId } = await startRun(database, tenantId, planned);
  const drive = { sessionId, out, concurrency, config };
  let result = await driveSession(store, drive);
  while (await goOnAsRecorded(database, tenantId, sessionId, recorded)) {
    result = await driveSession(store, drive);
  }
  return { result, process: planned.process };
}

import { Command } from 'commander';
import type { Dialectic } from '../api/dialectic.ts';
import type { ReplayOptions } from '../api/replay-run.ts';
import { DialecticError } from '../errors/errors.ts';
import { readPace } from '../models/recorded/options.ts';
import type { Process } from '../recipe/types.ts';
import type { RunResult } from '../session/summary.ts';
import { driveReplay } from './drive.ts';
import { withExample } from './help-text.ts';
import { printResult, tell } from './output.ts';
import { describeRecording, describeReplay } from './replay-text.ts';
import { readConcurrency, requireCompleted } from './run.ts';
import { withModels } from './store.ts';

type Options = {
  out?: string;
  recipe?: string;
  pace: string;
  fill?: string;
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
  const command = addPaceOption(new Command('replay'))
    .description('replay an exported run with its recorded answers; calls no model, costs nothing')
    .argument('<folder>', 'the folder that a run or an export has written')
    .option('-o, --out <dir>', 'the folder to write')
    .option('--fill <author>', 'offline: the offline author writes what was not recorded')
    .option('--recipe <name>', "a shipped process or a recipe folder (default: the run's own)")
    .option('-c, --concurrency <n>', 'answers at a time', '4')
    .option('--data <dir>', 'data directory (default: DIALECTIC_DATA or ~/.dialectic)')
    .option('--json', 'print the result as JSON')
    .action(async (recorded: string, options: Options) => {
      const { out, recipe, data, json } = options;
      const concurrency = readConcurrency(options.concurrency);
      const replay = {
        recorded,
        recipe,
        out,
        pace: readPaceOption(options.pace),
        fill: readFill(options.fill),
      };
      const { result, process } = await withModels(data, (dialectic) =>
        carryOutReplay(dialectic, { ...replay, concurrency }),
      );
      printResult(json === true, result, describeReplay(result, process, out));
      requireCompleted(result);
    });
  return withExample(command, 'dialectic replay brief-plan --out again');
}

const usage = (why: string): DialecticError => new DialecticError('usage_invalid', `--${why}.`);

export const readPaceOption = (text: string): number => readPace(text, usage);

function readFill(text: string | undefined): 'offline' | undefined {
  if (text === undefined || text === 'offline') return text;
  throw usage(`fill takes offline, not "${text}"`);
}

/** What came of a replay, and the process that it followed. */
type Replayed = { readonly result: RunResult; readonly process: Process };

/** Starts a replay and works on it to where the recorded run ended. */
export async function carryOutReplay(
  dialectic: Dialectic,
  { concurrency, ...replay }: ReplayOptions & { readonly concurrency: number },
): Promise<Replayed> {
  const started = await dialectic.startReplay(replay);
  for (const line of describeRecording(started, replay.recorded)) tell(line);
  const { session } = started;
  const result = await driveReplay(dialectic, session, { ...replay, concurrency });
  const { process } = await dialectic.session(session);
  return { result, process };
}

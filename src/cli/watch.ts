import { Command } from 'commander';
import type { SessionInfo } from '../api/data.ts';
import type { Dialectic } from '../api/dialectic.ts';
import type { RunEvent } from '../api/follow-run.ts';
import { locateStore } from '../db/open.ts';
import { DialecticError } from '../errors/errors.ts';
import { quoteWord } from '../text/quote-word.ts';
import { printResult, tell } from './output.ts';
import { report, requireAtRest } from './run.ts';
import { showRun } from './screen/show-run.ts';
import { findSession } from './sessions.ts';
import { withDialectic } from './store.ts';

type Options = { data?: string; json?: boolean };

/** `dialectic watch`: the screen of a run, in another terminal than the one that works on it. */
export function watchCommand(): Command {
  return new Command('watch')
    .description('follow a run that another process works on')
    .argument('[session]', 'its id or the end of it (default: the newest that runs)')
    .option('--data <dir>', 'data directory (default: DIALECTIC_DATA or ~/.dialectic)')
    .option('--json', 'print every event as a line of JSON')
    .action((wanted: string | undefined, options: Options) =>
      withDialectic(options.data, (dialectic) => watch(dialectic, wanted, options)),
    );
}

async function watch(
  dialectic: Dialectic,
  wanted: string | undefined,
  options: Options,
): Promise<void> {
  const { id } = await findWatched(dialectic, wanted);
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  try {
    const isEmbedded = 'dataDirectory' in locateStore(process.env, options.data);
    const followed = dialectic.watch(id, { signal: stop.signal });
    const events = isEmbedded ? whileWorkedOn(dialectic, followed) : followed;
    if (options.json) for await (const event of events) printResult(true, event, []);
    else await showRun(dialectic, id, events);
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
  if (stop.signal.aborted)
    return tell(`The run goes on. Look again with: dialectic watch ${quoteWord(id)}`);
  // Workers write no folder: who watched the run to its end gets what they wrote.
  const result = await dialectic.updateFolder(id);
  // Read from the log to its end, and still not at rest: this process holds the store alone.
  if (result.status === 'running' && result.gates.length === 0) {
    const message = `No process works on this session now. Go on with: dialectic resume ${quoteWord(id)}`;
    throw new DialecticError('run_stopped', message, { details: { session: id } });
  }
  if (options.json) requireAtRest(result);
  else report(result, {});
}

/** The newest session that runs; where none does, the newest of all. */
async function findWatched(dialectic: Dialectic, wanted: string | undefined): Promise<SessionInfo> {
  const sessions = wanted === undefined ? await dialectic.list() : [];
  const running = sessions.find(({ standing }) => standing === 'running');
  return running ?? findSession(dialectic, wanted);
}

/**
 * The events for as long as another process holds the store. Once this one does, nothing can work on
 * the session: what the log holds is read, and the store is let go for whoever wants to go on.
 */
async function* whileWorkedOn(
  dialectic: Dialectic,
  events: AsyncIterable<RunEvent>,
): AsyncGenerator<RunEvent, void, void> {
  let isAlone = await holdsStore(dialectic);
  for await (const event of events) {
    yield event;
    if (event.kind === 'store-back') isAlone = await holdsStore(dialectic);
    if (isAlone && event.kind === 'caught-up') return;
  }
}

const holdsStore = async (dialectic: Dialectic): Promise<boolean> =>
  (await dialectic.holder()).pid === process.pid;

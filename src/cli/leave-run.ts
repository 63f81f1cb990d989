import type { Dialectic } from '../api/dialectic.ts';
import { DialecticError } from '../errors/errors.ts';
import { tellCounts } from '../session/counts.ts';
import type { SessionEvent } from '../session/event-types.ts';
import { countNoun } from '../text/count-noun.ts';
import { quoteWord } from '../text/quote-word.ts';
import type { Terminal } from './ask-questions.ts';
import { agree } from './confirm.ts';
import { showPath } from './plan-folder.ts';

/** What became of the calls that were under way when a run was left. */
type LeftCalls = {
  readonly finished: number;
  readonly cut: number;
  /** Null where a price is unknown. */
  readonly costMicros: number | null;
};

/**
 * The error that ends a command whose person pressed Ctrl-C: what became of the calls under way, who
 * carries on, and the command that goes on or stops the others. On a terminal it asks whether to pause
 * the session for all.
 */
export async function leaveRun(
  dialectic: Dialectic,
  session: string,
  seen: string | null,
  terminal: Terminal | null,
): Promise<DialecticError> {
  const left = countCalls(await readRest(dialectic, session, seen));
  const { workers, folder, iteration, ...counts } = await dialectic.find(session);
  const place = folder === null ? '' : `, in ${showPath(folder)}`;
  const saved = ` Saved so far: ${tellCounts(counts, iteration)}${place}.`;
  const told = `Stopped here.${describeCalls(left)}${saved}`;
  const details = { session, workers, ...left };
  const stopped = (message: string): DialecticError =>
    new DialecticError('run_stopped', `${told} ${message}`, { details });
  const goOn = `Go on with: dialectic resume ${quoteWord(session)}`;
  if (workers === 0) return stopped(goOn);
  const others = countNoun(workers, 'other worker goes', 'other workers go');
  const carryOn = `${others} on with this session and ${workers === 1 ? 'spends' : 'spend'}`;
  if (terminal && (await agree(`${told} ${carryOn}. Pause it for all?`, terminal)) === 'agreed') {
    await dialectic.pause(session);
    return stopped(`The session is paused for all workers. ${goOn}`);
  }
  return stopped(
    `${carryOn}; pause it for all with: dialectic pause ${quoteWord(session)}. ` +
      `What they write comes into the folder with: dialectic export ${quoteWord(session)}`,
  );
}

async function readRest(
  dialectic: Dialectic,
  session: string,
  seen: string | null,
): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for (let after = seen; ; ) {
    const page = await dialectic.events(session, { after });
    events.push(...page.events);
    if (page.isLast || page.cursor === after) return events;
    after = page.cursor;
  }
}

/** The calls that ended while the run was left, and what they cost together. */
function countCalls(events: readonly SessionEvent[]): LeftCalls {
  const ended = events.filter((event) => event.kind === 'call-ended');
  const costs = ended.map(({ costMicros }) => costMicros);
  return {
    finished: ended.filter(({ outcome }) => outcome !== 'cut').length,
    cut: ended.filter(({ outcome }) => outcome === 'cut').length,
    costMicros: costs.includes(null) ? null : costs.reduce<number>((sum, one) => sum + one!, 0),
  };
}

function describeCalls({ finished, cut, costMicros }: LeftCalls): string {
  const ends = [
    ...(finished > 0
      ? [`${calls(finished)} under way ${finished === 1 ? 'was' : 'were'} finished`]
      : []),
    ...(cut > 0 ? [`${calls(cut)} ${cut === 1 ? 'was' : 'were'} cut off, and the text kept`] : []),
  ];
  if (ends.length === 0) return '';
  const cost =
    costMicros === null ? 'at an unknown price' : `for $${(costMicros / 1e6).toFixed(4)}`;
  return ` ${ends.join('; ')}, ${cost}.`;
}

const calls = (count: number): string => countNoun(count, 'call');

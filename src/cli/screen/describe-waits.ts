import type { Wait } from '../../api/data.ts';
import { countNoun } from '../../text/count-noun.ts';
import { quoteWord } from '../../text/quote-word.ts';
import { describeClock, describeSeconds } from './describe-time.ts';

/** Shorter rests pass before anybody wonders. */
const LEAST_TOLD_MS = 10_000;

/** What a session that is taken up again waits for, and how to go on at once. */
export function describeStandstill(waits: readonly Wait[], session: string, now: Date): string[] {
  const lines = waits.flatMap(({ jobs, until, error }) => {
    const date = describeDate(new Date(until), now);
    if (date === undefined) return [];
    const who = countNoun(jobs, 'job waits', 'jobs wait');
    const reason = error
      ? `${error.message} (${error.code})`
      : 'the clock was ahead when the date was set.';
    return [`${who} until ${date}: ${reason}`];
  });
  if (lines.length === 0) return [];
  return [
    ...lines,
    `Stop with Ctrl-C and go on at once with: dialectic resume ${quoteWord(session)} --now`,
  ];
}

/** A date and how far off it is; undefined where it is near. */
function describeDate(until: Date, now: Date): string | undefined {
  const restMs = until.getTime() - now.getTime();
  if (restMs < LEAST_TOLD_MS) return undefined;
  return `${describeClock(until, now)}, ${describeSeconds(restMs / 1_000)} from now`;
}

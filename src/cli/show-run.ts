import type { Dialectic } from '../api/dialectic.ts';
import type { WorkEvent } from '../api/work-on-run.ts';
import { now } from '../platform/clock.ts';
import type { SessionEvent } from '../session/event-types.ts';
import { NO_EVENTS, reduceSession } from '../session/session-state.ts';
import type { RunResult } from '../session/summary.ts';
import { describeStandstill, describeWaits } from './describe-waits.ts';
import { tell } from './output.ts';
import { openProgress, type Progress } from './progress.ts';

/** Shows where a run stands while its events come; returns the result, if they bring one. */
export async function showRun(
  dialectic: Dialectic,
  sessionId: string,
  events: AsyncIterable<WorkEvent>,
): Promise<RunResult | undefined> {
  let progress: Progress | undefined;
  let state = NO_EVENTS;
  let page: SessionEvent[] = [];
  for await (const event of events) {
    switch (event.kind) {
      case 'store-away':
        tell(describeAbsence(sessionId, event.message));
        break;
      case 'store-back':
        tell(`The store is back; session ${sessionId} goes on.`);
        break;
      case 'calls-finishing':
        tell('Waiting for the calls under way; Ctrl-C cuts them off.');
        break;
      case 'run-rested':
        return event.result;
      case 'caught-up': {
        state = reduceSession(state, page);
        // At first what the rows say: jobs of a clock that was ahead have no event with their date.
        const waits = progress
          ? describeWaits(page, now())
          : describeStandstill(await dialectic.waits(sessionId), sessionId, now());
        progress ??= await openProgress(await dialectic.session(sessionId));
        progress.draw(state);
        for (const line of waits) progress.tell(line);
        page = [];
        break;
      }
      default:
        page.push(event);
    }
  }
  return undefined;
}

const describeAbsence = (sessionId: string, reason: string): string =>
  `Session ${sessionId} waits for its store: ${reason} It goes on by itself, and keeps the answers` +
  ` under way meanwhile. Ctrl-C stops it; then go on with: dialectic resume ${sessionId}`;

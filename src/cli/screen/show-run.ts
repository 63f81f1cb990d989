import type { Dialectic } from '../../api/dialectic.ts';
import type { WorkEvent } from '../../api/work-on-run.ts';
import { toDialecticError } from '../../errors/errors.ts';
import { now } from '../../platform/clock.ts';
import type { SessionEvent } from '../../session/event-types.ts';
import type { RunResult } from '../../session/summary.ts';
import { countNoun } from '../../text/count-noun.ts';
import { quoteWord } from '../../text/quote-word.ts';
import { tell } from '../output.ts';
import { describeTrace } from '../trace-text.ts';
import { describeStandstill } from './describe-waits.ts';
import { LateScreen, type Opened } from './late-screen.ts';
import { type Caps, openScreen, type Screen } from './screen.ts';

/**
 * Shows where a run stands while its events come, whichever process they come from; returns the
 * result, if they bring one.
 */
export async function showRun(
  dialectic: Dialectic,
  sessionId: string,
  events: AsyncIterable<WorkEvent>,
): Promise<RunResult | undefined> {
  const screen = new LateScreen(() => openFor(dialectic, sessionId));
  let page: SessionEvent[] = [];
  try {
    for await (const event of events) {
      switch (event.kind) {
        case 'store-away':
          tell(describeAbsence(sessionId, event.message));
          break;
        case 'store-back':
          tell(`The store is back; session ${sessionId} goes on.`);
          break;
        case 'calls-finishing':
          tell(describeFinishing(event.calls));
          break;
        case 'folder-not-written':
          tell(`The folder is not up to date: ${event.message}`);
          break;
        case 'trace-written':
          for (const line of describeTrace(event)) tell(line);
          break;
        case 'run-rested':
          return event.result;
        case 'caught-up':
          await screen.show(page);
          page = [];
          break;
        default:
          page.push(event);
      }
    }
    return undefined;
  } finally {
    screen.close();
  }
}

/** Undefined while the store is away. */
async function openFor(dialectic: Dialectic, sessionId: string): Promise<Opened | undefined> {
  try {
    // What the rows say: jobs of a clock that was ahead have no event with their date.
    const waits = await dialectic.waits(sessionId);
    const screen = await openWithCaps(dialectic, sessionId);
    return { screen, standstill: describeStandstill(waits, sessionId, now()) };
  } catch (thrown) {
    if (toDialecticError(thrown).retryable) return undefined;
    throw thrown;
  }
}

async function openWithCaps(dialectic: Dialectic, sessionId: string): Promise<Screen> {
  const session = await dialectic.session(sessionId);
  const { budgets } = await dialectic.wallet.balance();
  const capIn = (currency: string): number | null =>
    budgets.find((one) => one.ownerId === sessionId && one.currency === currency)?.amount ?? null;
  const caps: Caps = { budgetMicros: capIn('USD'), budgetTokens: capIn('token') };
  return openScreen(session, caps);
}

const describeFinishing = (calls: number): string =>
  calls === 1
    ? 'Nothing new starts. 1 call under way is let finish; Ctrl-C cuts it off and keeps its text.'
    : `Nothing new starts. ${countNoun(calls, 'call under way is', 'calls under way are')} let finish; ` +
      'Ctrl-C cuts them off and keeps their text.';

const describeAbsence = (sessionId: string, reason: string): string =>
  `Session ${sessionId} waits for its store: ${reason} It goes on by itself, and keeps the answers` +
  ` under way meanwhile. Ctrl-C stops it; then go on with: dialectic resume ${quoteWord(sessionId)}`;

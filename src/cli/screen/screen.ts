import type { createLogUpdate } from 'log-update';
import { elapsedMs, every, now } from '../../platform/clock.ts';
import type { SessionEvent } from '../../session/event-types.ts';
import { NO_EVENTS, type SessionState } from '../../session/session-state.ts';
import { describeReading, drawRun } from './draw-run.ts';
import { type RunFacts, summarise } from './draw-sums.ts';
import { keepPace, type Pace, secondsLeft } from './pace.ts';
import { type Line, layOut, type Output, paint } from './paint.ts';
import { expectSteps, type RunView, type ShownSession, viewRun } from './run-view.ts';
import { type Outages, tellNews } from './tell-news.ts';

/** What a run may spend; null = no cap. */
export type Caps = Pick<RunFacts, 'budgetMicros' | 'budgetTokens'>;

/** What redraws lines in place, and how wide texts are in a terminal's cells. */
type Window = {
  readonly update: ReturnType<typeof createLogUpdate>;
  readonly widthOf: (text: string) => number;
  readonly slice: (text: string, start: number, end: number) => string;
};

const TICK_MS = 1_000;
/** Without a terminal, a run that has nothing to tell says so this often. */
const QUIET_MS = 60_000;
/** And what is read for a call this often. */
const READING_MS = 10_000;

/** Opens what shows where a run stands: a screen that is redrawn, or lines where there is none. */
export async function openScreen(
  session: ShownSession,
  caps: Caps,
  output: Output = process.stderr,
): Promise<Screen> {
  return new Screen(session, caps, output, output.isTTY ? await openWindow(output) : null);
}

/** Loading these takes a tenth of a second, which commands without a terminal need not wait for. */
async function openWindow(output: Output): Promise<Window> {
  const [{ createLogUpdate }, { default: stringWidth }, { default: sliceAnsi }] = await Promise.all(
    [import('log-update'), import('string-width'), import('slice-ansi')],
  );
  // The cursor stays visible: a process that is killed could not bring it back.
  const update = createLogUpdate(output, { showCursor: true });
  return { update, widthOf: (text) => stringWidth(text), slice: sliceAnsi };
}

/** Shows a run from the states that its events give. */
export class Screen {
  readonly #session: ShownSession;
  readonly #caps: Caps;
  readonly #output: Output;
  readonly #window: Window | null;
  readonly #expected: ReadonlyMap<string, number>;
  /** Seconds pass between two events, too. */
  readonly #timer = every(TICK_MS, () => this.#tick());
  readonly #outages: Outages = new Map();
  #state: SessionState = NO_EVENTS;
  #pace: Pace | undefined;
  #lastStage = '';
  #lastLineMs = elapsedMs();
  #lastReadingMs = -Infinity;
  #isOver = false;

  constructor(session: ShownSession, caps: Caps, output: Output, window: Window | null) {
    this.#session = session;
    this.#caps = caps;
    this.#output = output;
    this.#window = window;
    this.#expected = expectSteps(session);
  }

  /** Shows a state; the first one is where this process took over. */
  draw(state: SessionState): void {
    this.#state = state;
    const view = this.#view();
    if (this.#window !== null) return this.#redraw(view, this.#window);
    const latest = view.stages.findLast(({ mark }) => mark !== 'waiting');
    const stage = latest ? `${latest.mark === 'done' ? '✓ ' : ''}${latest.name}` : 'Starting';
    if (stage !== this.#lastStage) this.#writeSums(stage, view);
    this.#lastStage = stage;
  }

  /** Tells what these events bring, in lines that stay. */
  news(events: readonly SessionEvent[]): void {
    for (const line of tellNews(this.#session, events, now(), this.#outages)) this.#keep(line);
    // A window shows it beside the call.
    const reading = events.findLast((event) => event.kind === 'parts-read');
    if (this.#window === null && reading !== undefined) this.#tellReading(reading);
  }

  #tellReading(reading: Parameters<typeof describeReading>[0]): void {
    const isOver = reading.done === reading.all;
    if (isOver || elapsedMs() - this.#lastReadingMs < READING_MS) return;
    this.#lastReadingMs = elapsedMs();
    const text = describeReading(reading);
    this.#keep([`${text[0]?.toUpperCase()}${text.slice(1)}`]);
  }

  /** Prints a line that stays, above what is drawn. */
  tell(text: string): void {
    this.#keep([text]);
  }

  /** Ends the drawing; what is drawn last stays, without a guess at what follows. */
  close(): void {
    this.#timer.stop();
    this.#isOver = true;
    if (this.#window === null) return;
    if (this.#state !== NO_EVENTS) this.#redraw(this.#view(), this.#window);
    this.#window.update.done();
  }

  #view(): RunView {
    return viewRun(this.#session, this.#expected, this.#state);
  }

  #keep(line: Line): void {
    this.#lastLineMs = elapsedMs();
    if (this.#window === null) {
      this.#output.write(`${paint(line, this.#output)}\n`);
      return;
    }
    const lines = layOut(line, this.#output.columns ?? 80);
    this.#window.update.persist(lines.map((one) => paint(one, this.#output)).join('\n'));
    this.#redraw(this.#view(), this.#window);
  }

  #tick(): void {
    const view = this.#view();
    if (this.#window !== null) this.#redraw(view, this.#window);
    else if (elapsedMs() - this.#lastLineMs >= QUIET_MS) this.#writeSums(this.#lastStage, view);
  }

  #writeSums(stage: string, view: RunView): void {
    this.#keep([`${stage}: ${summarise(view, this.#facts(view)).join(' · ')}`]);
  }

  #redraw(view: RunView, { update, widthOf, slice }: Window): void {
    const { columns = 80, rows = 24 } = this.#output;
    const cut = (text: string, width: number): string =>
      widthOf(text) <= width ? text : `${slice(text, 0, width - 1)}…`;
    const lines = drawRun(view, this.#facts(view), { columns, rows, widthOf, cut }).map((line) =>
      // Wrapped lines would be more than the window has room for.
      cut(paint(line, this.#output), columns),
    );
    update(lines.join('\n'));
  }

  #facts({ done, total }: RunView): RunFacts {
    const { iteration, startedAt, tokens, costMicros, unpriced, gates } = this.#state;
    const nowMs = elapsedMs();
    this.#pace = keepPace(this.#pace, { iteration, done }, nowMs);
    return {
      ...this.#caps,
      tokens,
      costMicros,
      unpriced,
      gates: [...gates],
      now: now(),
      participants: this.#session.lanes.map(({ ordinal, model }) => `${ordinal} ${model}`),
      seconds: startedAt === null ? 0 : (now().getTime() - Date.parse(startedAt)) / 1000,
      secondsLeft: this.#isOver ? null : secondsLeft(this.#pace, { done, total }, nowMs),
    };
  }
}

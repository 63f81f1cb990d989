import { every } from '../../platform/clock.ts';
import type { SessionEvent } from '../../session/event-types.ts';
import { NO_EVENTS, reduceSession } from '../../session/session-state.ts';
import { divertTelling, tell } from '../output.ts';
import type { Screen } from './screen.ts';

/** A screen, and what is told of the run before it is drawn. */
export type Opened = { readonly screen: Screen; readonly standstill: readonly string[] };

const AGAIN_MS = 1_000;

/**
 * The screen of a run, which opens when its events have been read. Where the store is away then, it is
 * tried again, also while no event comes: a call may take minutes.
 */
export class LateScreen {
  readonly #open: () => Promise<Opened | undefined>;
  #screen: Screen | undefined;
  #opening: Promise<void> | undefined;
  #again: { stop(): void } | undefined;
  #stopDiverting: (() => void) | undefined;
  #state = NO_EVENTS;
  #isFirst = true;
  /** What is still to be told. */
  #news: SessionEvent[] = [];
  #isOver = false;

  /** `open` gives undefined while the store is away. */
  constructor(open: () => Promise<Opened | undefined>) {
    this.#open = open;
  }

  /** Shows where the run stands after these events; all but the first ones are news. */
  async show(events: readonly SessionEvent[]): Promise<void> {
    this.#state = reduceSession(this.#state, events);
    if (!this.#isFirst) this.#news.push(...events);
    this.#isFirst = false;
    if (this.#screen !== undefined) return this.#draw(this.#screen);
    await this.#tryToOpen();
    if (this.#screen !== undefined) return;
    // What is wrong for good is thrown when the next events are shown.
    this.#again ??= every(AGAIN_MS, () => void this.#tryToOpen().catch(() => {}));
  }

  /** Ends the drawing. */
  close(): void {
    this.#isOver = true;
    this.#again?.stop();
    this.#stopDiverting?.();
    this.#screen?.close();
  }

  #tryToOpen(): Promise<void> {
    this.#opening ??= this.#openOnce().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #openOnce(): Promise<void> {
    const opened = await this.#open();
    if (opened === undefined) return;
    const { screen, standstill } = opened;
    if (this.#isOver) return screen.close();
    this.#again?.stop();
    this.#screen = screen;
    this.#stopDiverting = divertTelling((line) => screen.tell(line));
    for (const line of standstill) tell(line);
    this.#draw(screen);
  }

  #draw(screen: Screen): void {
    screen.news(this.#news.splice(0));
    screen.draw(this.#state);
  }
}

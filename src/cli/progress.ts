import { elapsedMs } from '../platform/clock.ts';
import type { SessionView } from '../session/read.ts';
import { countSteps, type SessionState } from '../session/session-state.ts';
import { withoutControls } from '../text/clean-text.ts';
import { tell } from './output.ts';
import { drawTree, expectSteps, type Pace, summariseProgress } from './progress-tree.ts';

/** Shows on stderr where a run stands: a tree that is redrawn, or lines where there is no screen. */
export class Progress {
  readonly #session: SessionView;
  readonly #started = elapsedMs();
  readonly #screen = process.stderr.isTTY;
  readonly #expected: ReadonlyMap<string, number>;
  #pace: Pace | undefined;
  #drawn = 0;
  #lastStage = '';

  constructor(session: SessionView) {
    this.#session = session;
    this.#expected = expectSteps(session);
  }

  /** Draws a state; the first one is where this process took over. */
  draw(state: SessionState): void {
    const { stages } = this.#session.process;
    // What code makes is no call.
    const rows = countSteps(state).filter(({ stage, step }) => {
      const steps = stages.find(({ key }) => key === stage)?.steps;
      return (steps?.find(({ key }) => key === step)?.compute ?? null) === null;
    });
    const done = rows.reduce((sum, row) => sum + row.done, 0);
    const seconds = (elapsedMs() - this.#started) / 1000;
    // What an earlier process or pass did says nothing about how fast this one is.
    if (!this.#pace || done < this.#pace.before) this.#pace = { before: done, since: seconds };
    const { tokens } = state;
    const head = summariseProgress(rows, this.#expected, { ...this.#pace, seconds, tokens });
    if (this.#screen) return this.#redraw([...drawTree(this.#session, rows, this.#expected), head]);
    const stage = rows.at(-1)?.stage ?? 'starting';
    if (stage !== this.#lastStage) tell(`${stage}: ${head}`);
    this.#lastStage = stage;
  }

  /** Prints a line that stays, under what is drawn. */
  tell(line: string): void {
    tell(line);
    this.#drawn = 0;
  }

  #redraw(lines: readonly string[]): void {
    const back = this.#drawn > 0 ? `\u001b[${this.#drawn}A\u001b[J` : '';
    process.stderr.write(`${back}${withoutControls(lines.join('\n'))}\n`);
    this.#drawn = lines.length;
  }
}

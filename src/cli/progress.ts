import type { createLogUpdate } from 'log-update';
import { elapsedMs } from '../platform/clock.ts';
import type { SessionView } from '../session/read.ts';
import { countSteps, type SessionState } from '../session/session-state.ts';
import { withoutControls } from '../text/clean-text.ts';
import { drawTree, expectSteps, type Pace, summariseProgress } from './progress-tree.ts';

/** Where progress goes: standard error, which is a terminal or not. */
type Output = NodeJS.WritableStream & { readonly isTTY?: boolean };

/** What redraws lines in place, whatever the window's width and height, and lets them stand. */
type Screen = ReturnType<typeof createLogUpdate>;

/** Shows where a run stands: a tree that is redrawn, or lines where there is no screen. */
export async function openProgress(
  session: SessionView,
  output: Output = process.stderr,
): Promise<Progress> {
  if (output.isTTY !== true) return new Progress(session, output, null);
  // Loading it takes a tenth of a second, which commands without a screen need not wait for.
  const { createLogUpdate } = await import('log-update');
  return new Progress(session, output, createLogUpdate(output, { showCursor: true }));
}

class Progress {
  readonly #session: SessionView;
  readonly #output: Output;
  readonly #screen: Screen | null;
  readonly #started = elapsedMs();
  readonly #expected: ReadonlyMap<string, number>;
  #pace: Pace | undefined;
  #lastStage = '';

  constructor(session: SessionView, output: Output, screen: Screen | null) {
    this.#session = session;
    this.#output = output;
    this.#screen = screen;
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
    if (this.#screen !== null) {
      const lines = [...drawTree(this.#session, rows, this.#expected), head];
      this.#screen(withoutControls(lines.join('\n')));
      return;
    }
    const stage = rows.at(-1)?.stage ?? 'starting';
    if (stage !== this.#lastStage) this.#write(`${stage}: ${head}`);
    this.#lastStage = stage;
  }

  /** Prints a line that stays, under what is drawn. */
  tell(line: string): void {
    this.#screen?.done();
    this.#write(line);
  }

  #write(line: string): void {
    this.#output.write(`${withoutControls(line)}\n`);
  }
}

export type { Progress };

import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import xterm from '@xterm/headless';
import { expect, test } from 'vitest';

/** Width and height of a window, in characters. */
export type Size = { readonly columns: number; readonly rows: number };

type Place = { readonly cwd: string; readonly env: Readonly<Record<string, string>> };

/** A folder for what the screens showed, as text; without it nothing is written. */
const CAPTURES = process.env['SCREENS'];

/** util-linux's `script` gives a program a terminal without compiled packages. */
const hasScript = ((): boolean => {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux');
  } catch {
    return false;
  }
})();

/** A test that is skipped where this machine has no util-linux `script`. */
export const testAtTerminal = hasScript ? test : test.skip;

const quote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** A program in a pseudo-terminal, and the window that a person would look at. */
export class PseudoTerminal {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #window: InstanceType<typeof xterm.Terminal>;
  readonly #size: Size;
  #written: Promise<void> = Promise.resolve();
  /** The exit code of the program. */
  readonly ended: Promise<number | null>;

  constructor(command: readonly string[], size: Size, { cwd, env }: Place) {
    this.#size = size;
    this.#window = new xterm.Terminal({
      cols: size.columns,
      rows: size.rows,
      scrollback: 2_000,
      allowProposedApi: true,
    });
    const line = `stty cols ${size.columns} rows ${size.rows}; exec ${command.map(quote).join(' ')}`;
    this.#child = spawn('script', ['--quiet', '--flush', '--return', '-c', line, '/dev/null'], {
      cwd,
      env: { ...process.env, TERM: 'xterm-256color', ...env },
    });
    this.#child.stdout.on('data', (bytes: Buffer) => {
      this.#written = new Promise((resolve) => this.#window.write(bytes, resolve));
    });
    this.ended = new Promise((resolve) => this.#child.on('close', resolve));
  }

  /** Types keys, as a person does. */
  type(keys: string): void {
    this.#child.stdin.write(keys);
  }

  /** The lines that the window shows now, without the empty ones at its end. */
  async look(): Promise<string> {
    await this.#written;
    const { baseY } = this.#window.buffer.active;
    return this.#lines(baseY, baseY + this.#size.rows, false);
  }

  /** All that the window has shown and still holds when one scrolls up; wrapped lines are whole. */
  async readAll(): Promise<string> {
    await this.#written;
    return this.#lines(0, this.#window.buffer.active.length);
  }

  /** Waits until the text is somewhere in the window or above it. */
  async untilShown(text: RegExp): Promise<void> {
    await expect.poll(() => this.readAll(), { interval: 50, timeout: 120_000 }).toMatch(text);
  }

  /** Waits for the program's end and returns its exit code with all that it showed. */
  async untilEnded(): Promise<{ readonly code: number | null; readonly shown: string }> {
    const code = await this.ended;
    return { code, shown: await this.readAll() };
  }

  /** Keeps what the window shows now as a text file, where captures are wanted. */
  async capture(name: string): Promise<void> {
    if (CAPTURES === undefined) return;
    const folder = join(CAPTURES, `${this.#size.columns}x${this.#size.rows}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${name}.txt`), `${await this.look()}\n`);
  }

  /** Ends the program with its terminal; for tests that fail before it has ended. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #lines(from: number, to: number, joins = true): string {
    const { active } = this.#window.buffer;
    const lines: string[] = [];
    for (let at = from; at < to; at++) {
      const line = active.getLine(at);
      const text = line?.translateToString(true) ?? '';
      if (joins && line?.isWrapped && lines.length > 0) lines[lines.length - 1] += text;
      else lines.push(text);
    }
    return lines.join('\n').trimEnd();
  }
}

import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { processOf, stage, step } from '../../test/recipes/build.ts';
import type { SessionView } from '../session/read.ts';
import { NO_EVENTS } from '../session/session-state.ts';
import { openProgress } from './progress.ts';

const NAMES = ['offline/builder', 'offline/skeptic', 'openrouter/a-model-with-a-long-name'];
const session = {
  process: processOf('p', [
    stage('thesis', [step('write', 'EXECUTE', 'all_to_one', 'case', ['seed:thesis/'])]),
    stage('critique', [step('judge', 'EXECUTE', 'all_to_one', 'review', ['seed:critique/'])]),
  ]),
  lanes: NAMES.map((model, at) => ({ id: `lane-${at + 1}`, ordinal: at + 1, model })),
  untilStage: null,
  writerLaneId: null,
} as unknown as SessionView;
const stateWith = (tokens: number) => ({ ...NO_EVENTS, tokens });

/** A terminal that obeys the few sequences which move the cursor and erase. */
class Terminal extends Writable {
  readonly isTTY: boolean;
  readonly columns: number;
  readonly rows: number;
  readonly screen: string[] = [''];
  raw = '';
  #row = 0;
  #column = 0;

  constructor(columns: number, rows = 24, isTTY = true) {
    super({ decodeStrings: false });
    this.columns = columns;
    this.rows = rows;
    this.isTTY = isTTY;
  }

  override _write(text: string, _encoding: string, done: () => void): void {
    this.raw += text;
    const parts = text.matchAll(/\p{Cc}\[(?<arg>[?\d]*)(?<verb>[A-Za-z])|(?<unit>\n|.)/gu);
    for (const { groups } of parts) this.#obey(groups!['verb'], groups!['arg'], groups!['unit']);
    done();
  }

  #obey(verb: string | undefined, arg: string | undefined, unit: string | undefined): void {
    const count = Number(arg) || 1;
    if (unit === '\n') [this.#row, this.#column] = [this.#row + 1, 0];
    else if (unit !== undefined) this.#put(unit);
    else if (verb === 'A') this.#row = Math.max(0, this.#row - count);
    else if (verb === 'B') this.#row += count;
    else if (verb === 'G') this.#column = count - 1;
    else if (verb === 'K' && arg === '2') this.screen[this.#row] = '';
    else if (verb === 'K') this.#put('', this.#column);
    else expect(arg).toMatch(/^\?2026$/);
    this.screen[this.#row] ??= '';
  }

  #put(unit: string, end?: number): void {
    expect(this.#column).toBeLessThanOrEqual(this.columns);
    const line = this.screen[this.#row] ?? '';
    const rest = end === undefined ? line.slice(this.#column + 1) : '';
    this.screen[this.#row] = line.slice(0, this.#column).padEnd(this.#column) + unit + rest;
    this.#column += unit.length;
  }
}

describe.each([80, 50])('on a terminal of %i columns', (columns) => {
  test('the tree is drawn once, however often it changes', async () => {
    const terminal = new Terminal(columns);
    const progress = await openProgress(session, terminal);
    for (const tokens of [0, 1000, 1_000_000]) progress.draw(stateWith(tokens));
    const text = terminal.screen.join('');
    expect(text.match(/offline\/builder/g)).toHaveLength(1);
    expect(text.match(/calls/g)).toHaveLength(1);
    expect(text).toContain('1,000,000 tokens');
    expect(text.replaceAll(/\s/g, '')).toContain('a-model-with-a-long-name');
    expect(terminal.screen.every((line) => line.length <= columns)).toBe(true);
  });

  test('a line that is told stays, and the tree goes on under it', async () => {
    const terminal = new Terminal(columns);
    const progress = await openProgress(session, terminal);
    progress.draw(stateWith(1));
    progress.tell('Waits for the provider.');
    for (const tokens of [2, 3]) progress.draw(stateWith(tokens));
    const told = terminal.screen.indexOf('Waits for the provider.');
    expect(told).toBeGreaterThan(0);
    expect(terminal.screen.slice(told).join('').match(/calls/g)).toHaveLength(1);
    expect(terminal.screen.slice(told).join('')).toContain('3 tokens');
  });

  test('a window that is too low shows the end of the tree', async () => {
    const terminal = new Terminal(columns, 3);
    const progress = await openProgress(session, terminal);
    for (const tokens of [1, 2]) progress.draw(stateWith(tokens));
    expect(terminal.screen.join('')).toContain('2 tokens');
    expect(terminal.screen.join('')).not.toContain('offline/builder');
  });
});

test('where there is no terminal, each stage gets a line without escape sequences', async () => {
  const output = new Terminal(80, 24, false);
  const progress = await openProgress(session, output);
  progress.draw(stateWith(1));
  progress.draw(stateWith(2));
  progress.tell('Waits\u001b[2J.');
  expect(output.raw).toMatch(/^starting: 0 of about \d+ calls · 1 tokens · 0 s\nWaits\[2J\.\n$/);
});

test('what a model is called cannot move the cursor', async () => {
  const terminal = new Terminal(80);
  const lanes = ['x/\u001b[2J', 'y'].map((model, at) => ({ id: `${at}`, ordinal: at + 1, model }));
  (await openProgress({ ...session, lanes }, terminal)).draw(stateWith(1));
  expect(terminal.screen[0]).toBe('1 x/[2J · 2 y');
});

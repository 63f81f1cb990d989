import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { contractOf } from '../../src/recipe/contract.ts';
import {
  type Answer,
  type Asked,
  HELD_PIECES,
  type Served,
  startScriptedServer,
} from '../generation/scripted-server.ts';
import { packProgram, unpackProgram } from '../packed.ts';
import { sampleDocument } from '../recipes/sample.ts';
import { shippedWhole } from '../recipes/shipped.ts';
import { afterTheFile, temporaryFolder } from '../stores.ts';
import { PseudoTerminal, type Size } from './pseudo-terminal.ts';

const memo = shippedWhole('decision-memo');
const MODELS = ['alpha', 'beta'];
const CTRL_C = '\u0003';
const ANSWER = 'The mayor decides in May.';

/** A document of the right shape for whatever the shipped memo asks for. */
function answerMemo({ deliverable, soFar }: Asked): Answer {
  const [stageKey, documentKey] = deliverable.split('/');
  const stage = memo.stages.find(({ key }) => key === stageKey)!;
  const step = stage.steps.find(({ output }) => output.documentKey === documentKey)!;
  const isBallot = memo.convergence!.ballots.documentKey === documentKey;
  const content = isBallot ? BALLOT : sampleDocument(contractOf(stage, step)!).content;
  const whole = JSON.stringify(content);
  return { text: whole.startsWith(soFar) ? whole.slice(soFar.length) : whole };
}

const BALLOT = {
  rankings: ['A', 'B'].map((option_id, at) => ({
    rank: at + 1,
    option_id,
    why: `It serves the people who asked; this is reason number ${at + 1}.`,
  })),
};

/** Packs the program and lays it out in an empty folder, as `npm install --global` does. */
export async function installProgram(): Promise<string> {
  const { tarball } = await packProgram();
  return unpackProgram(tarball, join(await temporaryFolder(), 'prefix'));
}

/** A person with a new installation, an empty home and a model server on this machine. */
export class Newcomer {
  readonly home: string;
  readonly served: readonly Served[];
  readonly #command: string;
  readonly #size: Size;
  readonly #env: Readonly<Record<string, string>>;
  readonly #pace: { isHeld: (row: Served) => boolean };

  private constructor(
    { home, command, size }: { home: string; command: string; size: Size },
    server: { readonly url: string; readonly served: readonly Served[] },
    pace: { isHeld: (row: Served) => boolean },
  ) {
    this.home = home;
    this.served = server.served;
    this.#command = command;
    this.#size = size;
    this.#pace = pace;
    this.#env = {
      HOME: home,
      XDG_CONFIG_HOME: join(home, '.config'),
      DIALECTIC_DATA: join(home, '.dialectic'),
      DIALECTIC_BASE_URL: server.url,
      DATABASE_URL: '',
      NODE_PATH: '',
    };
  }

  static async arrive(command: string, size: Size): Promise<Newcomer> {
    const home = join(await temporaryFolder(), 'home');
    await mkdir(home);
    const brief = 'Should the library open on Sundays? Two staff, 9,000 euros a year.\n';
    await writeFile(join(home, 'brief.md'), brief);
    const pace = { pieceChars: 20, gapMs: 0, isHeld: (_row: Served): boolean => false };
    const server = await startScriptedServer(answerMemo, pace, MODELS);
    afterTheFile(() => server.stop());
    return new Newcomer({ home, command, size }, server, pace);
  }

  /** Lets the server stop in the midst of such answers, so that a run is caught at work. */
  hold(deliverable: string | null): void {
    this.#pace.isHeld = (row) => row.deliverable === deliverable;
  }

  /** Waits until an answer is under way and goes no further. */
  async untilHeld(deliverable: string): Promise<void> {
    const isHeld = (row: Served): boolean =>
      row.deliverable === deliverable && row.sent.length === HELD_PIECES && !row.over;
    await expect
      .poll(() => this.served.some(isHeld), { interval: 50, timeout: 120_000 })
      .toBe(true);
  }

  /** Types a command at the prompt of a new terminal. */
  enter(...parameters: string[]): PseudoTerminal {
    const command = [process.execPath, this.#command, ...parameters];
    const place = { cwd: this.home, env: this.#env };
    const terminal = new PseudoTerminal(command, this.#size, place);
    afterTheFile(() => terminal.kill());
    return terminal;
  }
}

/** The session that a screen says to resume; narrow windows break lines anywhere. */
function findSession(shown: string): string {
  const found = /dialectic resume ([\da-f-]{36})/.exec(shown.replaceAll('\n', ''));
  expect(found, `no advice to resume in:\n${shown}`).not.toBeNull();
  return found![1]!;
}

/** A first run: models are proposed, a question is answered in review, and Ctrl-C stops it. */
export async function interruptFirstRun(person: Newcomer): Promise<string> {
  person.hold('propose/proposal');
  const run = person.enter('run', 'brief.md', '-p', 'decision-memo', '--approve', 'clarify');
  await run.untilShown(/compatible\/alpha[^]*compatible\/beta[^]*\[y\/N\]/);
  await run.capture('1-run-proposes-models');
  run.type('y\r');
  await reviewWithAnswer(run);
  await person.untilHeld('propose/proposal');
  await run.untilShown(/[1-9]\d* in\s+flight/);
  await run.capture('3-run-at-work');
  await lookFromSecondTerminal(person);
  run.type(CTRL_C);
  await run.untilShown(/Nothing\s+new\s+starts[^]*Ctrl-C\s+cuts/);
  await run.capture('7-ctrl-c');
  run.type(CTRL_C);
  const { shown } = await run.untilEnded();
  await run.capture('8-ctrl-c-twice');
  return findSession(shown);
}

/** The first stage rests: its questions have numbers, and Enter goes on. */
async function reviewWithAnswer(run: PseudoTerminal): Promise<void> {
  await run.untilShown(/ 1 {2}\S[^]*Enter {2}goes on[^]*\n> ?$/);
  await run.capture('2-review');
  run.type(`1 ${ANSWER}\r`);
  await run.untilShown(/mayor decides[^]*\n> ?$/);
  run.type('\r');
}

/** While the first terminal works, the second lists, shows and watches. */
async function lookFromSecondTerminal(person: Newcomer): Promise<void> {
  for (const [name, ...parameters] of [
    ['4-list', 'list'],
    ['5-show', 'show'],
  ] as const) {
    const terminal = person.enter(...parameters);
    const { code, shown } = await terminal.untilEnded();
    await terminal.capture(name);
    expect(code, shown).toBe(0);
    expect(shown).toMatch(/running|at work/);
  }
  const watch = person.enter('watch');
  await watch.untilShown(/[1-9]\d* in\s+flight/);
  await watch.capture('6-watch');
  watch.type(CTRL_C);
  await watch.untilEnded();
}

/** Goes on as the screen said; nothing that was finished is asked for again. */
export async function resumeAsAdvised(person: Newcomer, session: string): Promise<void> {
  person.hold(null);
  const before = person.served.length;
  const resume = person.enter('resume', session);
  const { code, shown } = await resume.untilEnded();
  await resume.capture('9-completed');
  expect(code, shown).toBe(0);
  expect(shown).toContain('project_readme.md');
  const later = person.served.slice(before);
  expect(later.filter(({ deliverable }) => deliverable === 'clarify/questions')).toEqual([]);
  const proposals = later.filter(({ deliverable }) => deliverable === 'propose/proposal');
  for (const { messages } of proposals) {
    expect(messages.map(({ content }) => content).join('\n')).toContain(ANSWER);
  }
  const path = /(\S+project_readme\.md)/.exec(shown)![1]!;
  const readme = join(person.home, path);
  expect(existsSync(readme), path).toBe(true);
  // What was answered is no open question any more.
  expect(await readFile(readme, 'utf8')).not.toContain('at.questions.1.question');
}

/** A document is printed by the name that `show` gives it; the first page opens without one. */
export async function openDocuments(person: Newcomer): Promise<void> {
  for (const [name, parameters, expected] of [
    ['13-show-document', ['show', 'decision@1'], /Decision/],
    ['14-open', ['open', '--with', 'cat'], /completed|Decision memo/],
  ] as const) {
    const terminal = person.enter(...parameters);
    const { code, shown } = await terminal.untilEnded();
    await terminal.capture(name);
    expect(code, shown).toBe(0);
    expect(shown).toMatch(expected);
  }
}

/** A run with too little money pauses, says so, and goes on with more. */
export async function pauseForBudget(person: Newcomer): Promise<void> {
  const models = ['-m', 'compatible/alpha', '-m', 'compatible/beta'];
  const limit = ['--budget-tokens', '9000', '--yes', '-o', 'second'];
  const run = person.enter('run', 'brief.md', '-p', 'decision-memo', ...models, ...limit);
  const paused = await run.untilEnded();
  await run.capture('10-budget-reached');
  expect(paused.shown).toMatch(/budget/i);
  const more = ['--budget-tokens', '500000', '--yes'];
  const resume = person.enter('resume', findSession(paused.shown), ...more);
  const { code, shown } = await resume.untilEnded();
  await resume.capture('11-more-money');
  expect(code, shown).toBe(0);
  expect(shown).toContain('second/project_readme.md');
}

/** The recorded debate that comes with the program. */
export async function watchDemo(person: Newcomer): Promise<void> {
  const demo = person.enter('demo', '--pace', '0', '--out', 'demo');
  const { code, shown } = await demo.untilEnded();
  await demo.capture('12-demo');
  expect(code, shown).toBe(0);
  expect(existsSync(join(person.home, 'demo/project_readme.md'))).toBe(true);
}

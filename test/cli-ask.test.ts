import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { prepareRun } from '../src/cli/new-run.ts';
import { carryOut } from '../src/cli/run.ts';
import { dialecticOnServer, OFFLINE, runDialectic } from './run-dialectic.ts';
import { emptyDatabase, temporaryFolder } from './stores.ts';

const MODELS = OFFLINE.filter((word) => word !== '-m');
const ANSWER = 'Forty orders a day by Easter.';
let folder: string;
let brief: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  brief = join(folder, 'brief.md');
  await writeFile(brief, 'A web shop for a bakery with pick-up times.');
});

afterEach(() => void vi.unstubAllEnvs());

/** The prompts from which the participants plan their proposals. */
async function headerPrompts(out: string): Promise<string[]> {
  const names = await readdir(out, { recursive: true });
  const prompts = names.filter((name) => /2_thesis\/.*header_context_prompt\.md$/.test(name));
  return Promise.all(prompts.map((name) => readFile(join(out, name), 'utf8')));
}

type Listed = {
  open: number;
  questions: { number: number; question: string; assumption: string; answers: string[] }[];
};

test('a run that asks first rests with its questions and goes on with the answers', async () => {
  const dialectic = await dialecticOnServer();
  const out = join(folder, 'out');
  const run = await dialectic('run', brief, '--ask', '--until', 'thesis', ...OFFLINE);
  expect(run.code).toBe(0);
  expect(run.stdout).toMatch(/^waiting for answers: 2 calls/);
  expect(run.stdout).toMatch(/\d questions are open\. List them with: dialectic questions /);
  expect(run.stdout).toMatch(/Go on with: dialectic approve /);

  const list = async () => JSON.parse((await dialectic('questions', '--json')).stdout) as Listed;
  const { questions, open } = await list();
  expect((await dialectic('questions')).stdout).toMatch(/answer NUMBER ANSWER -s [0-9a-f]{8}\n$/);
  expect(open).toBe(questions.length);
  expect(open).toBeGreaterThan(1);
  expect(new Set(questions.map(({ question }) => question)).size).toBe(open);
  expect(questions.every(({ assumption }) => assumption !== null)).toBe(true);

  expect((await dialectic('answer', '1', ANSWER)).code).toBe(0);
  const after = await list();
  expect(after.open).toBe(open - 1);
  expect(after.questions[0]!.answers).toEqual([ANSWER]);
  expect((await dialectic('approve', '-o', out)).code).toBe(0);
  const prompts = await headerPrompts(out);
  expect(prompts.length).toBe(2);
  for (const prompt of prompts) {
    expect(prompt).toContain(ANSWER);
    expect(prompt).toContain('where there is none, your assumption stands and is marked');
  }
  // What nobody answered stands before its participant, and on the first page, with what is assumed.
  const [first, second] = questions;
  const page = await readFile(join(out, 'project_readme.md'), 'utf8');
  expect(page).toContain(`Assumed until then: ${second!.assumption}`);
  expect(page).not.toContain(first!.question);
  expect(prompts.some((prompt) => prompt.includes(second!.assumption))).toBe(true);
}, 180_000);

/** A run in this process, with a person at a terminal who answers by the text of each prompt. */
async function runAtTerminal(type: (prompt: string) => string) {
  const DATABASE_URL = await emptyDatabase();
  vi.stubEnv('DATABASE_URL', DATABASE_URL);
  const out = join(await temporaryFolder(), 'out');
  const [input, output] = [new PassThrough(), new PassThrough()];
  let shown = '';
  output.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    const [prompt] = /Question \d+ of [^]*> $/.exec(shown) ?? [];
    if (prompt === undefined) return;
    shown = '';
    input.write(type(prompt));
  });
  const scope = { depth: 'standard', ask: true, result: true, shortcuts: true, until: 'thesis' };
  const prepared = await prepareRun(brief, {
    model: [...MODELS],
    resource: [],
    source: [],
    ...scope,
  });
  const result = await carryOut(prepared, { out, concurrency: '4' }, { input, output });
  return { result, out, env: { DATABASE_URL } };
}

test('with a person at the terminal the questions are asked there, and the run goes on', async () => {
  const asked: string[] = [];
  const { result, out, env } = await runAtTerminal((prompt) => {
    asked.push(prompt);
    return asked.length === 1 ? `${ANSWER}\r` : '\r';
  });
  expect(result.awaiting).toMatchObject({ reason: 'until', until: 'thesis' });
  expect(asked.length).toBeGreaterThan(1);
  expect(asked.every((prompt) => prompt.includes('\n  Enter for: '))).toBe(true);
  const prompts = await headerPrompts(out);
  expect(prompts.map((prompt) => prompt.includes(ANSWER))).toEqual([true, true]);
  const listed = await runDialectic(['questions', '--json'], { env });
  const answered = (JSON.parse(listed.stdout) as Listed).questions.flatMap(
    ({ answers }) => answers,
  );
  expect(answered).toEqual([ANSWER]);
}, 120_000);

test('Ctrl-C at a question keeps the answers so far, and the run waits', async () => {
  let count = 0;
  const { result } = await runAtTerminal(() => (++count === 1 ? `${ANSWER}\r` : '\u0003'));
  expect(count).toBe(2);
  expect(result).toMatchObject({ status: 'awaiting_review', awaiting: { reason: 'review' } });
}, 120_000);

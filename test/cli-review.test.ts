import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { beforeAll, expect, test, vi } from 'vitest';
import { prepareRun } from '../src/cli/new-run.ts';
import { carryOut } from '../src/cli/run.ts';
import { runDialectic } from './run-dialectic.ts';
import { emptyDatabase, temporaryFolder } from './stores.ts';

let folder: string;
let brief: string;
let databaseUrl: string;
beforeAll(async () => {
  databaseUrl = await emptyDatabase();
  folder = await temporaryFolder();
  brief = join(folder, 'brief.md');
  await writeFile(brief, 'Should the library open on Sundays? Two staff, 9,000 euros a year.');
});

const PROMPT = '> ';

/** A person who types one line after the other, each at a prompt; what was shown is kept. */
function personWho(typed: readonly string[]) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const left = [...typed];
  let shown = '';
  let seen = 0;
  output.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    if (!shown.slice(seen).includes(PROMPT)) return;
    seen = shown.length;
    const line = left.shift();
    if (line !== undefined) input.write(line);
  });
  return { terminal: { input, output }, shown: () => shown, left };
}

let runs = 0;

async function review(approve: string, person: ReturnType<typeof personWho>) {
  const out = join(folder, `out-${++runs}`);
  const scope = { depth: 'standard', result: true, shortcuts: true, until: 'Propose' };
  const given = { model: ['offline/builder'], resource: [], source: [] };
  const options = { ...given, process: 'decision-memo', ...scope };
  const prepared = await prepareRun(brief, options);
  const place = { out, approve, concurrency: '4' };
  vi.stubEnv('DATABASE_URL', databaseUrl);
  try {
    return { result: await carryOut(prepared, place, person.terminal), out };
  } finally {
    vi.unstubAllEnvs();
  }
}

const textsOf = async (out: string, pattern: RegExp): Promise<string> => {
  const names = await readdir(out, { recursive: true });
  const texts = names.filter((name) => pattern.test(name));
  return (await Promise.all(texts.map((name) => readFile(join(out, name), 'utf8')))).join('\n');
};

test('a stage named for approval is shown, answered and commented at the terminal', async () => {
  const person = personWho([
    '1 Forty orders a day.\r',
    '99 No such question.\r',
    'd1 Ask less.\r',
    'Mind the\rSunday trading act.\r\r',
    '\r',
  ]);
  const { result, out } = await review('Clarify', person);
  expect(person.left).toEqual([]);
  expect(result.awaiting).toMatchObject({ reason: 'until', until: 'propose' });
  const shown = person.shown();
  expect(shown).toMatch(/Clarify is done and waits for you: 1 document\.\r?\n {2}d1 {2}Clarifying/);
  expect(shown).toContain(join(out, 'session_'));
  expect(shown).toMatch(/Open questions:\r?\n {2}1 {2}/);
  expect(shown).toMatch(/Enter {2}goes on with Propose/);
  expect(shown).toMatch(/Answered: /);
  expect(shown).toContain('No document asks "99"');
  const prompts = await textsOf(out, /_propose\/.*_prompt\.md$/);
  for (const said of ['Forty orders a day.', 'Ask less.', 'Sunday trading act.']) {
    expect(prompts).toContain(said);
  }
}, 120_000);

test('answers and feedback can be written in the editor', async () => {
  const editor = join(folder, 'editor.mjs');
  await writeFile(
    editor,
    `import { readFileSync, writeFileSync } from 'node:fs';
     const [, , file] = process.argv;
     const form = readFileSync(file, 'utf8').replace(/^(## 1 .*)$/m, '$1\\nFifty orders.');
     writeFileSync(file, form + 'Mind the noise.\\n');`,
  );
  vi.stubEnv('VISUAL', '');
  vi.stubEnv('EDITOR', `"${process.execPath}" "${editor}"`);
  const person = personWho(['e\r', '\r']);
  const { out } = await review('clarify', person);
  expect(person.left).toEqual([]);
  const prompts = await textsOf(out, /_propose\/.*_prompt\.md$/);
  expect(prompts).toContain('Fifty orders.');
  expect(prompts).toContain('Mind the noise.');
}, 120_000);

test('who stops at a review finds the run waiting, and without a terminal it ends well', async () => {
  const person = personWho(['1 Forty orders a day.\r', 'q\r']);
  const { result } = await review('stage', person);
  expect(result).toMatchObject({ status: 'awaiting_review', awaiting: { stage: 'clarify' } });
  const env = { DATABASE_URL: databaseUrl };
  const on = await runDialectic(['approve', result.session, '--no-preflight'], { env });
  expect(on.code, on.stderr).toBe(0);
  expect(on.stdout).toMatch(/^stopped after propose, as asked/);
  const memo = ['-p', 'decision-memo', '-m', 'offline/builder', '--approve', 'propose'];
  const run = ['run', brief, ...memo, '--no-preflight', '-o', join(folder, 'again')];
  const waits = await runDialectic(run, { env });
  expect(waits.code, waits.stderr).toBe(0);
  expect(waits.stdout).toMatch(/Go on with: dialectic approve /);
}, 120_000);

test('who watches a run to its gate is told the same as its own terminal', async () => {
  const env = { DATABASE_URL: await emptyDatabase() };
  const dialectic = (...words: string[]) => runDialectic(words, { env });
  const errorOf = ({ stderr }: { stderr: string }) =>
    JSON.parse(stderr.trim().split('\n').at(-1)!).error;
  const memo = ['-p', 'decision-memo', '-m', 'offline/builder', '--approve', 'clarify'];
  const waits = await dialectic('run', brief, ...memo, '--no-preflight', '--json');
  expect(waits.code, waits.stderr).toBe(0);
  const { session } = JSON.parse(waits.stdout) as { session: string };
  const watched = await dialectic('watch', session);
  expect(watched.code, watched.stderr).toBe(0);
  expect(watched.stdout).toContain(`Go on with: dialectic approve ${session}`);
  expect(await dialectic('watch', session, '--json')).toMatchObject({ code: 0 });

  const iterated = await dialectic('iterate', session, '--no-preflight', '--yes', '--json');
  expect(iterated.code).toBe(5);
  expect(errorOf(iterated)).toMatchObject({
    code: 'conflict',
    message: `The pass is not over, the session is waiting for you. Go on with: dialectic approve ${session}`,
  });

  expect((await dialectic('cancel', session)).code).toBe(0);
  const over = await dialectic('watch', session, '--json');
  expect(over.code).toBe(7);
  expect(errorOf(over)).toMatchObject({
    code: 'run_incomplete',
    message: expect.stringContaining(`was cancelled; what was written is kept.`),
    action: 'Nothing goes on with a cancelled run: start a new one.',
  });
  for (const verb of ['resume', 'iterate']) {
    const refused = await dialectic(verb, session, '--no-preflight', '--yes', '--json');
    expect(errorOf(refused), verb).toMatchObject({
      code: 'conflict',
      message: `A cancelled session cannot go on. Session ${session}.`,
      action: 'Start a new run; what was saved is kept and can be exported.',
    });
  }
}, 120_000);

test('a stage that is not there, or has none behind it, is refused before the run', async () => {
  const run = ['run', brief, '-p', 'decision-memo', '-m', 'offline/builder'];
  const wrong = await runDialectic([...run, '--approve', 'clarfy']);
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('There is no stage clarfy. Did you mean clarify?');
  const last = await runDialectic([...run, '--approve', 'decide']);
  expect(last.stderr).toContain('Decide is the last stage');
  const until = await runDialectic([...run, '--until', 'chalenge']);
  expect(until.stderr).toContain('Did you mean challenge?');
});

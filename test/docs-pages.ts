import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { startAuthorServer } from './author-server.ts';
import { blocksOf, commandsOf, splitWords } from './docs-blocks.ts';
import { toCommands } from './docs-stand-ins.ts';
import { choice, draftFiles, faults, verdict } from './eval/verdicts.ts';
import { type Ended, type Place, runDialectic } from './run-dialectic.ts';
import { afterTheFile, emptyDatabase, emptyDirectory, temporaryFolder } from './stores.ts';

/** The clone. */
export const root = fileURLToPath(new URL('..', import.meta.url));

/** The pages for users, by path. */
export const PAGES: ReadonlyMap<string, string> = new Map(
  ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)]
    .filter((path) => path.endsWith('.md'))
    .map((path) => [path, readFileSync(join(root, path), 'utf8')] as const),
);

/** Pages whose commands need a minute: `npm run test:long` carries them out. */
export const LONG_PAGES = [
  'README.md',
  'docs/context.md',
  'docs/eval.md',
  'docs/folder.md',
  'docs/gates.md',
  'docs/install.md',
  'docs/recipes.md',
  'docs/replay.md',
  'docs/retention.md',
  'docs/sources.md',
  'docs/workers.md',
];
/** Pages that install the program: their commands are those of the installed one. */
const INSTALLING = ['README.md', 'docs/install.md'];

/** The pages whose blocks of commands are carried out as they are written: all that have any. */
export const RUN_PAGES = [...PAGES.keys()].filter((path) =>
  blocksOf(PAGES.get(path)!).some(({ language }) => language === 'sh'),
);

/** A minute of work that test/cli.test.ts does with the same command. */
const DEMO = 'dialectic demo ';
const MODELS = ['gpt-5', 'gpt-5-mini', 'claude-opus-4-5', 'claude-sonnet-4-5', 'gemini-2.5-pro'];
const BRIEF = 'Should the library open on Sundays? Two staff, 9,000 euros a year.\n';

/** Commands open a database of the shared server in a third of the time of an embedded store. */
async function emptyPlace(path: string): Promise<Record<string, string>> {
  const isEmbedded = LONG_PAGES.includes(path) && path !== 'docs/workers.md';
  if (isEmbedded) return { DATABASE_URL: '', DIALECTIC_DATA: await emptyDirectory() };
  return { DATABASE_URL: await emptyDatabase() };
}

/** The offline author writes documents; what a rival of the debate writes and a judge says are none. */
function answerEvaluation(prompt: string): unknown {
  if (/^Deliverable: eval\/(draft|rewrite)$/m.test(prompt)) return draftFiles('One voice');
  if (prompt.includes('Deliverable: eval/faults')) return faults;
  if (prompt.includes('Deliverable: eval/choice')) return choice('X');
  if (prompt.includes('Deliverable: eval/judgement')) return verdict(7, 5, 'X');
  return undefined;
}

/** The folder of a new user with a brief, keys and an empty store; providers are on loopback. */
async function settle(path: string): Promise<Required<Place>> {
  const [cwd, home] = [await temporaryFolder(), await temporaryFolder()];
  const { url, stop } = await startAuthorServer(MODELS, answerEvaluation);
  afterTheFile(stop);
  const providers = {
    openai: { api: 'chat', baseUrl: url },
    anthropic: { kind: 'compatible', baseUrl: url },
    google: { kind: 'compatible', baseUrl: url },
  };
  await mkdir(join(home, 'dialectic'));
  await writeFile(join(home, 'dialectic/dialectic.config.json'), JSON.stringify({ providers }));
  await writeFile(join(cwd, 'brief.md'), BRIEF);
  await mkdir(join(home, 'bin'));
  if (!INSTALLING.includes(path)) {
    const command = `exec '${process.execPath}' '${join(root, 'src/cli/main.ts')}' "$@"`;
    await writeFile(join(home, 'bin/dialectic'), `#!/bin/sh\n${command}\n`);
    await chmod(join(home, 'bin/dialectic'), 0o755);
  }
  const env = {
    ...(await emptyPlace(path)),
    OPENAI_API_KEY: 'sk-not-a-real-key',
    ANTHROPIC_API_KEY: 'sk-not-a-real-key',
    GOOGLE_API_KEY: 'sk-not-a-real-key',
    XDG_CONFIG_HOME: home,
    NO_COLOR: '1',
    // What npm installs "globally", and the Node of the tests, which may be newer than the machine's.
    npm_config_prefix: home,
    PATH: `${join(home, 'bin')}:${dirname(process.execPath)}:${process.env['PATH']}`,
  };
  return { cwd, env };
}

/** Simple commands run in this process; what needs a shell gets one. */
async function carryOut(command: string, path: string, place: Required<Place>): Promise<Ended> {
  const words = INSTALLING.includes(path) ? null : splitWords(command);
  if (words?.[0] === 'dialectic') return runDialectic(words.slice(1), place);
  const env = { ...process.env, DATABASE_URL: '', ...place.env };
  return promisify(execFile)('bash', ['-c', command], { cwd: place.cwd, env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: unknown) => error as Ended,
  );
}

/** What a line says whatever the day, the machine and the ids are. */
const stable = (line: string): string =>
  line
    .replaceAll(/\b(?=[0-9a-f]*\d)[0-9a-f]{6,}\b/g, 'ID')
    .replaceAll(/\d[\d,.]*/g, '#')
    .replaceAll(/\s+/g, ' ')
    .trim();

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '');

/**
 * Carries out the `sh` blocks of a page, one after another in one folder. Each line of a `text`
 * block must be among what the commands before it printed; numbers and ids may differ, and `…`
 * leaves lines out.
 */
export async function runPage(path: string): Promise<void> {
  const place = await settle(path);
  let printed = '';
  for (const { language, text, line } of blocksOf(PAGES.get(path)!)) {
    if (language === 'text') {
      const lines = linesOf(printed).map(stable);
      const shown = linesOf(text).filter((one) => one.trim() !== '…');
      expect(lines, `${path}:${line}`).toEqual(expect.arrayContaining(shown.map(stable)));
    }
    if (language !== 'sh') continue;
    printed = '';
    const lines = commandsOf(text).flatMap(({ command: written, exitCode }) =>
      toCommands(written).map((command) => ({ command, exitCode })),
    );
    for (const { command, exitCode } of lines) {
      if (command.startsWith(DEMO)) continue;
      const { code, stdout, stderr } = await carryOut(command, path, place);
      expect(code, `${path}:${line} ${command}\n${stderr}`).toBe(exitCode);
      printed += `${stderr}${stdout}`.replaceAll(place.cwd, '/home/you');
    }
  }
}

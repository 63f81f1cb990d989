import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readTextFolder } from '../src/platform/folders.ts';
import { textsOf } from './replay/record.ts';
import { dialecticOnServer, OFFLINE, runDialectic, spawnDialectic } from './run-dialectic.ts';
import { temporaryFolder } from './stores.ts';

const dialectic = (...parameters: string[]) => runDialectic(parameters);

test('demo replays the recorded debate and says what to open first', async () => {
  const out = join(await temporaryFolder(), 'out');
  const { code, stdout, stderr } = await dialectic('demo', '--pace', '0', '--out', out);
  expect(code, stderr).toBe(0);
  expect(stderr).toContain('The answers are recorded: no model is called now');
  expect(stdout).toMatch(/: \d+ recorded answers, \d+ documents/);
  expect(stdout).toMatch(/Blind ballots:\n {2}lane 1 ranks lane \d, then lane \d\n/);
  expect(stdout).toContain('2 of 2 ballots counted.');
  expect(stdout).toMatch(/\$\d+\.\d\d at the prices of then\. This replay: nothing\./);
  expect(stdout).toContain(join(out, 'project_readme.md'));
  const files = await readTextFolder(out);
  const example = fileURLToPath(new URL('../examples/bakery-plan', import.meta.url));
  expect(textsOf(files)).toEqual(textsOf(await readTextFolder(example)));
  const contents = files.get([...files.keys()].find((path) => path.endsWith('/contents.md'))!)!;
  expect(contents).toMatch(/\[Requirements\].* asked · 13 words a sentence, 7 % without a verb$/m);
  expect(contents).toMatch(/\[What the debate found\].* · \d+ words$/m);
  const readme = files.get('project_readme.md')!;
  expect(readme).toContain('**The answers are recorded:**');
  expect(readme).not.toContain('No language model');
  expect(readme).toContain('stands in [What the debate found](session_');
  for (const [, path] of readme.matchAll(/\]\(([^)]+)\)/g)) {
    expect(existsSync(join(out, decodeURI(path!))), path).toBe(true);
  }
  const offline = [...files.values()].filter((text) =>
    text.includes('No language model wrote this document'),
  );
  expect(offline).toEqual([]);
}, 240_000);

test('run, list, show, choose and export go together', async () => {
  const folder = await temporaryFolder();
  const dialectic = await dialecticOnServer();
  const brief = join(folder, 'brief.md');
  await writeFile(brief, 'Should the library open on Sundays? Two staff, 9,000 euros a year.');
  const out = join(folder, 'out');
  const run = await dialectic('run', brief, '-p', 'decision-memo', ...OFFLINE, '-o', out, '--json');
  expect(run.code, run.stderr).toBe(0);
  const result = JSON.parse(run.stdout);
  const counts = { calls: 10, documentCount: 8 };
  expect(result).toMatchObject({ status: 'completed', ...counts, degraded: false });
  expect(result.documents.length).toBe(10);
  const readme = await readFile(join(out, 'project_readme.md'), 'utf8');
  expect(readme).toMatch(
    /^# What was decided\n\n- \S[^]*## Read first[^]*In all: 10 calls, 8 documents\./,
  );
  for (const { path, dataPath, stage, key, style } of result.documents) {
    const isRead = `${stage}/${key}` === 'decide/decision';
    expect(style, key).toEqual(
      isRead
        ? {
            sentences: expect.any(Number),
            averageWords: expect.any(Number),
            fragments: expect.any(Number),
          }
        : null,
    );
    if (path) expect(existsSync(path), path).toBe(true);
    expect(JSON.parse(await readFile(dataPath, 'utf8'))).toBeTypeOf('object');
  }
  expect(result).toMatchObject({ chosen: { by: 'ballots' }, vote: { cast: 2, read: 2 } });
  const shown = await dialectic('show');
  expect(shown.stdout).toContain(result.chosen.text);
  expect(shown.stdout).toContain('In all: 10 calls, 8 documents');
  expect((await dialectic('list')).stdout).toContain('10 calls, 8 documents');
  expect(shown.stdout).not.toContain('- Points: ');
  expect((await dialectic('show', '--all')).stdout).toContain('- Points: ');
  const memo = result.documents.findLast(({ path }: { path: string | null }) => path !== null);
  const printed = await dialectic('show', `${memo.key}@${memo.lane}`);
  expect(printed.stdout.trim()).toBe((await readFile(memo.path, 'utf8')).trim());
  const titled = await dialectic('show', 'Decision');
  expect(titled.stdout).toContain(`participant: ${result.chosen.lane} `);
  const opened = await dialectic('open', memo.shortId, '--with', 'true');
  expect(opened).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Opened .* with true\.$/m),
  });
  const list = await dialectic('list', '--json');
  expect(JSON.parse(list.stdout)).toMatchObject([
    { id: result.session, status: 'completed', calls: 10, documents: 8 },
  ]);
  const other = result.chosen.lane === 1 ? '2' : '1';
  expect((await dialectic('choose', other)).code).toBe(0);
  const again = join(folder, 'again');
  const exported = await dialectic('export', '-o', again, '--json');
  expect(JSON.parse(exported.stdout).chosen).toMatchObject({ lane: Number(other), by: 'person' });
  expect(await readFile(join(again, 'project_readme.md'), 'utf8')).toContain('by a person');
  await mkdir(join(again, 'Pending'));
  const kept = ['mine.md', 'Pending/mine.md'];
  for (const path of [...kept, 'Pending/gone.md']) await writeFile(join(again, path), 'Old.');
  const written = join(again, '.dialectic-files.json');
  const { owner, files } = JSON.parse(await readFile(written, 'utf8'));
  const more = [...files, 'mine.md', 'Pending/gone.md'];
  await writeFile(written, JSON.stringify({ owner, files: more }));
  expect((await dialectic('export', '-o', again)).code).toBe(0);
  expect(existsSync(join(again, 'Pending/gone.md'))).toBe(false);
  for (const path of kept) expect(existsSync(join(again, path)), path).toBe(true);
}, 120_000);

test('the progress of a second pass begins anew and never exceeds the plan', async () => {
  const folder = await temporaryFolder();
  const dialectic = await dialecticOnServer();
  const brief = join(folder, 'brief.md');
  await writeFile(brief, 'Should the library open on Sundays? Two staff, 9,000 euros a year.');
  const run = await dialectic('run', brief, '-p', 'decision-memo', ...OFFLINE, '--json');
  expect(run.code, run.stderr).toBe(0);
  const second = await dialectic('iterate', '--json');
  expect(second.code, second.stderr).toBe(0);
  expect(JSON.parse(second.stdout)).toMatchObject({ status: 'completed', calls: 20 });
  const shown = [...second.stderr.matchAll(/: (\d+) of about (\d+) calls/g)].map((line) =>
    line.slice(1).map(Number),
  );
  for (const [done, total] of shown) {
    expect(total).toBe(10);
    expect(done).toBeLessThanOrEqual(10);
  }
  expect(shown.at(-1)).toEqual([10, 10]);
  expect(second.stderr).not.toMatch(/-\d+ s left/);
}, 120_000);

test('a run that waits for a person says how to go on, and goes on', async () => {
  const folder = await temporaryFolder();
  const onServer = await dialecticOnServer();
  const dialectic = (...parameters: string[]) => onServer(...parameters, '--json');
  const brief = join(folder, 'brief.md');
  await writeFile(brief, 'Should the library open on Sundays? Two staff, 9,000 euros a year.');
  const memo = ['-p', 'decision-memo', ...OFFLINE];
  const run = await dialectic('run', brief, ...memo, '--approve', 'stage');
  expect(run.code, run.stderr).toBe(0);
  expect(JSON.parse(run.stdout)).toMatchObject({
    standing: 'waiting for you',
    awaiting: { reason: 'review', stage: 'clarify' },
  });
  const feedback = await dialectic('feedback', 'clarify', 'Ask the neighbours too.');
  expect(feedback.code, feedback.stderr).toBe(0);
  expect(JSON.parse(feedback.stdout).readBy).toMatchObject({ stage: 'propose', iteration: 1 });
  const { documents } = JSON.parse((await dialectic('show')).stdout);
  for (const name of [documents[0].shortId, documents[0].path]) {
    const given = await dialectic('feedback', 'Clarify', 'Fewer questions.', '-d', name);
    expect(given.code, given.stderr).toBe(0);
  }
  for (const [wanted, code, listed] of [
    ['questions', 'usage_invalid', 'clarify/questions@2'],
    ['nothing', 'not_found', 'clarify/questions@1'],
  ] as const) {
    const refused = await dialectic('feedback', 'clarify', 'x', '-d', wanted);
    const { error } = JSON.parse(refused.stderr.trim().split('\n').at(-1)!);
    expect(error).toMatchObject({ code, message: expect.stringContaining(listed) });
  }
  const asked = JSON.parse((await dialectic('questions')).stdout);
  expect(asked.open).toBe(asked.questions.length);
  const [first] = asked.questions;
  expect(first.assumption).toBeTypeOf('string');
  expect((await dialectic('answer', first.id, 'The mayor decides.')).code).toBe(0);
  const unknown = await dialectic('answer', 'clarify', 'Who asks?', 'Nobody.');
  expect(unknown.code).toBe(5);
  expect(unknown.stderr).toContain(asked.questions[1].id);
  expect(unknown.stderr).not.toContain(first.id);
  const approve = await dialectic('approve');
  expect(JSON.parse(approve.stdout).status).toBe('awaiting_review');
}, 120_000);

test('a participant that fails leaves a named error, and resume goes on from there', async () => {
  const folder = await temporaryFolder();
  const dialectic = await dialecticOnServer();
  const brief = join(folder, 'brief.md');
  await writeFile(brief, 'Should the library open on Sundays? Two staff, 9,000 euros a year.');
  const models = ['-m', 'offline/builder', '-m', 'offline/skeptic?badjson=always'];
  const run = await dialectic('run', brief, '-p', 'decision-memo', ...models, '--json');
  expect(run.code).toBe(7);
  const result = JSON.parse(run.stdout);
  expect(result.status).toBe('failed');
  expect(result.failures.join(' ')).toContain('offline/skeptic');
  expect((await dialectic('list')).stdout).toMatch(/\d unread notices: dialectic notices/);
  const notices = JSON.parse((await dialectic('notices', '--json')).stdout);
  expect(notices[0].message).toMatch(/participant 2 \(offline\/skeptic.* failed: /);
  const one = await dialectic('notices', 'dismiss', notices[0].id.slice(-12), '--json');
  expect(JSON.parse(one.stdout)).toEqual({ dismissed: [notices[0].id] });
  expect((await dialectic('notices', 'dismiss', notices[0].id)).code).toBe(5);
  expect((await dialectic('notices', 'dismiss')).code).toBe(2);
  const all = await dialectic('notices', 'dismiss', '--all');
  expect(all.stdout).toBe(`Dismissed ${notices.length - 1}.\n`);
  expect((await dialectic('notices')).stdout).toBe('No notices.\n');
}, 240_000);

test('what is wrong with the brief or the models is said before anything runs', async () => {
  const folder = await temporaryFolder();
  const onServer = await dialecticOnServer();
  const dialectic = (...parameters: string[]) => onServer(...parameters, '--json');
  const binary = join(folder, 'binary');
  await writeFile(binary, Buffer.from([1, 0, 2]));
  const empty = join(folder, 'empty');
  await writeFile(empty, ' ');
  const good = join(folder, 'good');
  await writeFile(good, 'A brief.');
  const cases: [string, string[]][] = [
    ['usage_invalid', ['run', join(folder, 'absent')]],
    ['usage_invalid', ['run', binary]],
    ['usage_invalid', ['run', empty]],
    ['usage_invalid', ['run', good, '--until', 'nowhere', ...OFFLINE]],
    ['usage_invalid', ['run', good, '--concurrency', '0', ...OFFLINE]],
    ['usage_invalid', ['run', good, '--writer', 'offline/nobody', ...OFFLINE]],
    ['not_found', ['resume']],
  ];
  for (const [code, parameters] of cases) {
    const { stderr } = await dialectic(...parameters);
    expect(JSON.parse(stderr.trim().split('\n').at(-1)!).error.code, parameters.join(' ')).toBe(
      code,
    );
  }
}, 120_000);

test('doctor reports as JSON and for people', async () => {
  const data = join(await temporaryFolder(), 'data');
  const json = await dialectic('doctor', '--data', data, '--json');
  expect(JSON.parse(json.stdout)).toMatchObject({ ok: true });
  const text = await dialectic('doctor', '--data', data);
  expect(text.stdout).toContain('holds no database yet');
});

test('doctor --restore without a backup names the code and leaves with its exit code', async () => {
  const data = join(await temporaryFolder(), 'data');
  const { code, stderr } = await spawnDialectic(['doctor', '--data', data, '--restore', '--json'])
    .ended;
  expect(code).toBe(3);
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'backup_missing' } });
});

test('wrong usage leaves with 2 and says what is wrong', async () => {
  const { code, stderr, stdout } = await spawnDialectic(['dance']).ended;
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain("Unknown command 'dance'");
});

test.each([
  [['recipe', 'fork', 'research'], "Required option '--out <folder>' not specified"],
  [['wallet', 'report', '--nope'], "Unknown option '--nope'"],
  [['notices', 'dismiss', '--nope'], "Unknown option '--nope'"],
])('%j is used wrongly and leaves with 2', async (parameters, message) => {
  const { code, stderr, stdout } = await dialectic(...parameters);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(message);
});

import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Evaluation } from '../../src/eval/evaluation.ts';
import { ROLES } from '../../src/eval/rubric.ts';
import { SINGLE_FILES } from '../../src/eval/write-single.ts';
import { writeTextFolder } from '../../src/platform/folders.ts';
import { processToFiles } from '../../src/recipe/serialise.ts';
import { type Answer, type Asked, startScriptedServer } from '../generation/scripted-server.ts';
import { GOOD_CHECKLIST, GOOD_FRAME, workPlan } from '../generation/work-plan.ts';
import { type Ended, ownConfiguration, runDialectic } from '../run-dialectic.ts';
import { emptyDatabase, temporaryFolder } from '../stores.ts';
import { labelOf, roleOf, singleFiles, verdict } from './verdicts.ts';

const BRIEF = 'A web shop for a bakery, within 900 euros.';
/** Only the debate's documents hold the first of these, only the single prompt's the second. */
const DEBATE = GOOD_CHECKLIST.nodes[0]!.work;
const SINGLE = 'One voice';

let folder: string;
let recipe: string;
let databaseUrl: string;
let prices: Awaited<ReturnType<typeof ownConfiguration>>;
beforeAll(async () => {
  folder = await temporaryFolder();
  recipe = join(folder, 'recipe');
  databaseUrl = await emptyDatabase();
  const results = [{ stage: 'work', documentKey: 'checklist', folder: null }];
  await writeTextFolder(recipe, processToFiles({ ...workPlan(), results }));
  await writeFile(join(folder, 'brief.md'), BRIEF);
  const price = 'price: { input: 1, output: 2 }';
  const models = NAMES.map((name) => `  compatible/${name}: { ${price} }`);
  prices = await ownConfiguration(`models:\n${models.join('\n')}\n`);
});

const NAMES = ['debater', 'writer', 'judge', 'first-is-best'];

/** Runs the verb as a user would, against a server that plays a script. */
async function evaluate(script: (asked: Asked) => Answer, parameters: readonly string[]) {
  const server = await startScriptedServer(script, undefined, NAMES);
  const all = ['eval', 'brief.md', '-p', recipe, ...parameters];
  try {
    const env = { DATABASE_URL: databaseUrl, DIALECTIC_BASE_URL: server.url, ...prices };
    return { ...(await runDialectic(all, { cwd: folder, env })), served: server.served };
  } finally {
    await server.stop();
  }
}

const errorOf = ({ stderr }: Ended): { code: string; message: string } =>
  JSON.parse(stderr.trim().split('\n').at(-1)!).error;

/** All parts: a debate, the single prompt, a judge who looks and one who likes what comes first. */
function answerWell(asked: Asked): Answer {
  const { deliverable, model } = asked;
  if (deliverable === 'work/frame') return { text: JSON.stringify(GOOD_FRAME) };
  if (deliverable === 'work/checklist') return { text: JSON.stringify(GOOD_CHECKLIST) };
  if (deliverable === 'eval/single') return { text: JSON.stringify(singleFiles(SINGLE)) };
  if (model === 'first-is-best') return { text: JSON.stringify(verdict(9, 5, 'X')) };
  const [debate, single] = roleOf(asked) === ROLES[0].stance ? [8, 3] : [4, 7];
  const isX = labelOf(asked, DEBATE) === 'X';
  const [x, y] = isX ? [debate, single] : [single, debate];
  return { text: JSON.stringify(verdict(x, y, x > y ? 'X' : 'Y')) };
}

const WHOLE = ['--debate', 'compatible/debater', '--single', 'compatible/writer'];
const FOLDERS = ['--debate-folder', 'given/debate', '--single-folder', 'given/single'];
const JUDGE = ['--judge', 'compatible/judge'];

describe('an evaluation from the brief on', () => {
  let ended: Awaited<ReturnType<typeof evaluate>>;
  let found: Evaluation;
  beforeAll(async () => {
    const judges = [...JUDGE, '--judge', 'compatible/first-is-best'];
    ended = await evaluate(answerWell, [...WHOLE, ...judges, '-o', 'whole', '--json']);
    expect(ended.code, ended.stderr).toBe(0);
    found = JSON.parse(ended.stdout) as Evaluation;
  }, 120_000);
  const judged = (model: string) =>
    ended.served.filter((row) => row.deliverable === 'eval/judgement' && row.model === model);

  test('asks every judge in every role and in both orders', () => {
    for (const model of ['judge', 'first-is-best']) {
      const asked = judged(model).map((row) => `${labelOf(row, DEBATE)} ${roleOf(row)}`);
      const wanted = ROLES.flatMap(({ stance }) => [`X ${stance}`, `Y ${stance}`]);
      expect(asked.toSorted()).toEqual(wanted.toSorted());
    }
  });

  test('shows judges the brief and both folders, and never who wrote them', () => {
    for (const { messages, system } of [...judged('judge'), ...judged('first-is-best')]) {
      const all = [system, ...messages.map(({ content }) => content)].join('\n');
      for (const part of [BRIEF, DEBATE, SINGLE, SINGLE_FILES[4]!]) expect(all).toContain(part);
      expect(all).not.toMatch(/compatible|debater|writer-|single prompt|document_key/i);
    }
  });

  test('has the single prompt and every judgement on the ledger, under a purpose of their own', async () => {
    const env = { DATABASE_URL: databaseUrl };
    const { stdout } = await runDialectic(['wallet', 'history', '-n', '500', '--json'], { env });
    const rows = JSON.parse(stdout) as { purpose: string; currency: string; amount: number }[];
    const paid = rows.filter(
      ({ purpose, currency }) => purpose === 'evaluation' && currency === 'USD',
    );
    const asked = ended.served.filter(({ deliverable }) => deliverable.startsWith('eval/'));
    expect(paid.length).toBe(asked.length);
    const told = found.sides.single.spent!.costUsd! + found.judging.costUsd!;
    expect(-paid.reduce((sum, { amount }) => sum + amount, 0) / 1e6).toBeCloseTo(told, 9);
  });

  test('maps labels back to sides', () => {
    const rows = found.judgements.filter(({ judge }) => judge === 'compatible/judge');
    expect(rows.length).toBe(6);
    for (const { role, first, preference, debate, single } of rows) {
      const wanted = role === 'people' ? [8, 3, 'debate'] : [4, 7, 'single'];
      expect([debate.scores.sound.score, single.scores.sound.score, preference]).toEqual(wanted);
      expect(debate.best[0]).toContain(first === 'debate' ? 'X' : 'Y');
    }
  });

  test('gives the means of judges and orders', () => {
    const byRole = Object.fromEntries(found.scores.map(({ role, scores }) => [role, scores]));
    // The judge who likes what comes first gives each side 7 on average.
    expect(byRole['people']!.insight).toEqual({ debate: 7.5, single: 5 });
    expect(byRole['developer']!.insight).toEqual({ debate: 5.5, single: 7 });
    const mean = (7.5 + 5.5 + 5.5) / 3;
    expect(byRole['all']!.worth_per_minute.debate).toBeCloseTo(mean, 10);
  });

  test('counts a judge whom the order turns for neither side', () => {
    const byRole = Object.fromEntries(found.preferences.map((row) => [row.role, row]));
    expect(byRole['people']).toEqual({
      role: 'people',
      all: { debate: 3, of: 4 },
      byFirst: { debate: { debate: 2, of: 2 }, single: { debate: 1, of: 2 } },
      judges: { debate: 1, single: 0, turned: 1 },
      preferred: 'debate',
    });
    expect(byRole['reviewer']).toMatchObject({ preferred: 'single', all: { debate: 1, of: 4 } });
  });

  test('asks the single prompt once, for as many words as the debate has', async () => {
    const [asked, ...more] = ended.served.filter((row) => row.deliverable === 'eval/single');
    expect(more).toEqual([]);
    expect(found.wordsAsked).toBe(found.sides.debate.words);
    expect(asked!.messages.at(-1)!.content).toContain(`about ${found.wordsAsked} words`);
    const text = await readFile(join(folder, 'whole/single', SINGLE_FILES[0]!), 'utf8');
    expect(text).toContain(SINGLE);
  });

  test('counts calls and money of both sides and of the judging', () => {
    const { debate, single } = found.sides;
    const calls = [debate.spent!.calls, single.spent!.calls, found.judging.calls];
    expect(calls).toEqual([2, 1, 12]);
    for (const { costUsd, inputTokens, outputTokens } of [debate.spent!, single.spent!]) {
      expect(inputTokens * outputTokens).toBeGreaterThan(0);
      expect(costUsd).toBeCloseTo((inputTokens + 2 * outputTokens) / 1e6, 9);
    }
  });

  test('leaves the table and the judgements, and knows the costs of its folders later', async () => {
    const table = await readFile(join(folder, 'whole/table.md'), 'utf8');
    expect(table).toContain('| the people who asked | 7.5 / 5.0 |');
    expect(table).toContain(
      '| a sceptical reviewer | 1 of 4 | 1 of 2 | 0 of 2 | 0 / 1 / 1 | single |',
    );
    expect(table).toMatch(/\| calls \| 2 \| 1 \|/);
    const kept = await readFile(join(folder, 'whole/judgements.json'), 'utf8');
    expect(JSON.parse(kept)).toEqual(found);
    const given = ['--debate-folder', 'whole/debate', '--single-folder', 'whole/single'];
    const again = await evaluate(answerWell, [...given, ...JUDGE, '-o', 'again', '--json']);
    expect(again.code, again.stderr).toBe(0);
    expect((JSON.parse(again.stdout) as Evaluation).sides).toMatchObject({
      debate: { spent: found.sides.debate.spent, models: ['compatible/debater'] },
      single: { spent: found.sides.single.spent, models: ['compatible/writer'] },
    });
    expect(again.served.length).toBe(6);
  }, 60_000);

  test("a debate's folder that `run` made has its cost from the store", async () => {
    const { session, models } = JSON.parse(
      await readFile(join(folder, 'whole/debate/project_settings.json'), 'utf8'),
    ) as { session: { id: string }; models: { model: string }[] };
    const copy = join(folder, 'elsewhere');
    const readme = await readFile(join(folder, 'whole/debate/project_readme.md'), 'utf8');
    await mkdir(join(copy, 'decide'), { recursive: true });
    await writeFile(join(copy, 'project_readme.md'), readme);
    await writeFile(join(copy, 'decide/plan.md'), DEBATE);
    await writeFile(join(copy, 'project_settings.json'), JSON.stringify({ session, models }));
    const given = ['--debate-folder', copy, '--single-folder', 'whole/single', ...JUDGE];
    const ended = await evaluate(answerWell, [...given, '-o', 'from-store', '--json']);
    expect(ended.code, ended.stderr).toBe(0);
    const { sides, warnings } = JSON.parse(ended.stdout) as Evaluation;
    expect(sides.debate.spent?.calls).toBe(2);
    // What the readme says about the participants is cut off.
    expect(warnings.join()).not.toContain('names compatible/debater');
  }, 60_000);
});

describe('with given folders', () => {
  beforeAll(async () => {
    await mkdir(join(folder, 'given/debate/decide'), { recursive: true });
    await writeFile(join(folder, 'given/debate/project_readme.md'), '# Decide on Monday');
    await writeFile(join(folder, 'given/debate/decide/plan.md'), DEBATE);
    const files = singleFiles(SINGLE).files.map(({ name, text }) => [name, text] as const);
    await writeTextFolder(join(folder, 'given/single'), new Map(files));
  });
  const run = (script: (asked: Asked) => Answer, out: string) =>
    evaluate(script, [...FOLDERS, ...JUDGE, '-o', out, '-c', '1', '--json']);

  test('a judgement that does not fit is asked for again, and both calls count', async () => {
    const { preference: _left, ...broken } = verdict(11, 5, 'X');
    const ended = await run(
      (asked) => (asked.turn === 0 ? { text: JSON.stringify(broken) } : answerWell(asked)),
      'again-once',
    );
    expect(ended.code, ended.stderr).toBe(0);
    const { judgements, judging, sides } = JSON.parse(ended.stdout) as Evaluation;
    expect([judgements.length, judging.calls]).toEqual([6, 7]);
    const last = ended.served[1]!.messages.at(-1)!.content;
    expect(last).toContain('`preference` is missing');
    expect(last).toContain('`x.scores.sound.score` must be at most 10');
    expect(sides.debate.spent).toBeNull();
  }, 60_000);

  test('a judgement that never fits is named and missing, and the others are kept', async () => {
    const ended = await run(
      (asked) =>
        roleOf(asked) === ROLES[1].stance && labelOf(asked, DEBATE) === 'Y'
          ? { text: '{"x": "better"}' }
          : answerWell(asked),
      'missing',
    );
    expect(ended.code).toBe(6);
    expect(errorOf(ended).code).toBe('model_output_invalid');
    expect(errorOf(ended).message).toContain('1 of 6 judgements are missing');
    const found = JSON.parse(ended.stdout) as Evaluation;
    expect(found.judgements.length).toBe(5);
    expect(found.missing).toMatchObject([{ role: 'developer', first: 'single' }]);
    const row = found.preferences.find(({ role }) => role === 'developer');
    expect(row).toMatchObject({ preferred: null, all: { debate: 0, of: 1 } });
  }, 60_000);
});

test('a debate that its budget stops is told of, and nothing is judged', async () => {
  const ended = await evaluate(answerWell, [
    ...WHOLE,
    ...JUDGE,
    '--budget',
    '0.000001',
    '--yes',
    '-o',
    'poor',
    '--json',
  ]);
  expect([ended.code, errorOf(ended).code]).toEqual([7, 'run_incomplete']);
  expect(ended.stderr).toContain('--debate-folder');
  expect(ended.served).toEqual([]);
}, 60_000);

describe('an evaluation that cannot begin', () => {
  test.each([
    ['no judge', 'usage_invalid', WHOLE],
    ['an unknown judge', 'provider_not_configured', [...WHOLE, '--judge', 'nobody/x']],
    [
      'a folder that is not there',
      'folder_unusable',
      ['--single-folder', 'absent', '--debate', 'compatible/debater', ...JUDGE],
    ],
    ['a place that is taken', 'folder_occupied', [...WHOLE, ...JUDGE, '-o', 'whole']],
  ])('for %s says so and asks nobody', async (_, code, parameters) => {
    const ended = await evaluate(answerWell, [...parameters, '--json']);
    expect(errorOf(ended).code, ended.stderr).toBe(code);
    expect(ended.served).toEqual([]);
    expect(existsSync(join(folder, 'dialectic-eval/debate'))).toBe(false);
  });
});

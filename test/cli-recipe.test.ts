import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { RecipeComparison } from '../src/cli/recipe-diff.ts';
import type { Process, RecipeIssue } from '../src/recipe/types.ts';
import { runDialectic } from './run-dialectic.ts';
import { temporaryFolder } from './stores.ts';

const shipped = fileURLToPath(new URL('../recipes', import.meta.url));

const recipe = (...parameters: string[]) => runDialectic(['recipe', ...parameters]);

const readJson = async <T>(...parameters: string[]): Promise<T> => {
  const { stdout, stderr } = await recipe(...parameters, '--json');
  expect(stderr).toBe('');
  return JSON.parse(stdout) as T;
};

const copyMemo = (): Promise<string> => editedMemo('process.yaml', 'key:', 'key:');

/** A copy of decision-memo with one text replaced in one file. */
async function editedMemo(file: string, from: string, to: string): Promise<string> {
  const folder = join(await temporaryFolder(), 'memo');
  await cp(join(shipped, 'decision-memo'), folder, { recursive: true });
  await editFile(join(folder, file), from, to);
  return folder;
}

async function editFile(path: string, from: string, to: string): Promise<void> {
  const text = await readFile(path, 'utf8');
  expect(text).toContain(from);
  await writeFile(path, text.replace(from, to));
}

describe('recipe list', () => {
  test('names what is shipped', async () => {
    const { stdout, code } = await recipe('list');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^decision-memo: process, 4 stages, 5 steps, version [0-9a-f]{12}$/m);
    expect(stdout).toMatch(/^research: stage, 5 steps/m);
    const { recipes } = await readJson<{ recipes: { name: string; stages: string[] }[] }>('list');
    expect(recipes.find((one) => one.name === 'software-plan')?.stages).toHaveLength(7);
  });
});

describe('recipe show', () => {
  test('tells stages, steps, inputs and the calls of a run', async () => {
    const { stdout } = await recipe('show', 'software-plan');
    expect(stdout).toContain('model calls  38, 114, 247 with 1, 2, 3 participants');
    expect(stdout).toContain('one writer   after synthesis');
    expect(stdout).toMatch(/PLAN per_source_document_by_lineage → header_context/);
    expect(stdout).toMatch(/updated_master_plan \(last pass, optional\)/);
    expect(stdout.split('\n').filter((line) => line.length > 100)).toEqual([]);
  });

  test('gives all of it as JSON, a stage on its own and a folder too', async () => {
    const stage = await readJson<{ kind: string; calls: number[] }>('show', 'research');
    expect(stage).toMatchObject({ kind: 'stage', calls: [4, 8, 12] });
    const folder = join(shipped, 'decision-memo');
    const { process } = await readJson<{ process: Process }>('show', folder);
    expect(process.stages[0]!.files['prompts/seed.md']).toBe(
      await readFile(join(folder, 'clarify/prompts/seed.md'), 'utf8'),
    );
  });

  test('what is no recipe is refused by code', async () => {
    const { code, stderr, stdout } = await recipe('show', 'gone', '--json');
    expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'recipe_unknown' } });
  });
});

describe('recipe validate', () => {
  test('says that there is nothing to say', async () => {
    const { stdout, code } = await recipe('validate', join(shipped, 'research'));
    expect(code).toBe(0);
    expect(stdout).toMatch(/research: no defects; research, stage, 5 steps\n$/);
  });

  test('prints every defect with file, line, field and code, and leaves with 2', async () => {
    const folder = await editedMemo('decide/stage.yaml', 'name: Decide', 'title: Decide');
    await editFile(join(folder, 'propose/prompts/proposal.md'), '{{', '{{ gone }} {{');
    const { stdout, stderr, code } = await recipe('validate', folder);
    expect({ code, stderr }).toEqual({ code: 2, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toContain(
      `${folder}/decide/stage.yaml:3 title: is not a known field; ` +
        'known are key, name, description, lanes, seed_prompt, steps, origin (field_invalid)',
    );
    expect(lines.at(-1)).toMatch(
      /propose\/prompts\/proposal\.md:\d+ gone: .*\(prompt_variable_unknown\)$/,
    );
    const { issues } = await readJson<{ issues: RecipeIssue[] }>('validate', folder);
    expect(issues).toHaveLength(lines.length);
    expect(issues[0]).toMatchObject({
      file: 'decide/stage.yaml',
      line: expect.any(Number) as number,
    });
  });

  test('plans the recipe, too, and finds what only shows with several participants', async () => {
    const folder = await editedMemo('decide/stage.yaml', 'multiple: true', 'multiple: false');
    const { stdout, code } = await recipe('validate', folder);
    expect(code).toBe(2);
    expect(stdout).toMatch(
      /decide\/stage\.yaml:\d+ steps\[0\]\.inputs\[0\]: .*\(input_ambiguous\)/,
    );
  });

  test('reports the defects of every file, and of every step that cannot be planned, at once', async () => {
    const folder = await editedMemo('decide/stage.yaml', 'multiple: true', 'multiple: false');
    await editFile(join(folder, 'challenge/stage.yaml'), 'multiple: true', 'multiple: false');
    await editFile(join(folder, 'propose/prompts/proposal.md'), '{{', '{{ gone }} {{');
    const placesOf = async (): Promise<string[]> => {
      const { stdout } = await recipe('validate', folder, '--json');
      const { issues } = JSON.parse(stdout) as { issues: RecipeIssue[] };
      return issues.map(({ code, file }) => `${code} ${file}`);
    };
    const ofText = 'prompt_variable_unknown propose/prompts/proposal.md';
    expect(await placesOf()).toEqual([
      ofText,
      'input_ambiguous challenge/stage.yaml',
      'input_ambiguous decide/stage.yaml',
    ]);
    // A process that cannot be read cannot be planned, but its stages are checked all the same.
    await editFile(join(folder, 'process.yaml'), 'name:', 'title:');
    const unread = 'field_invalid process.yaml';
    expect(await placesOf()).toEqual([unread, unread, ofText]);
    await writeFile(join(folder, 'process.yaml'), 'stages: [');
    expect(await placesOf()).toEqual(['yaml_invalid process.yaml', ofText]);
  });

  test('names a document whose fields cannot be said in its words; a run takes the recipe', async () => {
    const contract = 'decide/contracts/decision.yaml';
    const folder = await editedMemo(contract, 'brief: 550', 'brief: 90');
    const { stdout, code } = await recipe('validate', folder);
    expect(code).toBe(2);
    expect(stdout).toMatch(
      /decision\.yaml:\d+ x-words\.brief: the fields take \d+ words .* \(no_room\)\n$/,
    );
    expect((await recipe('show', folder)).stdout).toContain('model calls  5, ');
  });

  test('a picture among the prompts is refused by code', async () => {
    const folder = await editedMemo('process.yaml', 'key:', 'key:');
    await writeFile(join(folder, 'shared', 'picture.png'), Buffer.from([0x89, 0x50, 0, 0xff]));
    const { code, stderr } = await recipe('validate', folder);
    expect(code).toBe(2);
    expect(stderr).toMatch(/picture\.png is not text in UTF-8\.\n.*\(file_not_text\)/);
  });
});

describe('recipe fork and diff', () => {
  test('a fork is valid, differs in nothing, and then in what was edited', async () => {
    const folder = join(await temporaryFolder(), 'mine');
    const fork = await recipe('fork', 'software-plan', '--stage', 'thesis', '--out', folder);
    expect(fork).toMatchObject({ code: 0, stderr: '' });
    expect((await recipe('validate', folder)).code).toBe(0);
    expect((await recipe('diff', folder)).stdout).toBe(`${folder} does what software-plan does.\n`);
    await editFile(join(folder, 'thesis/stage.yaml'), 'name: Plan the proposal', 'name: Plan it');
    await editFile(join(folder, 'thesis/prompts/header.md'), '\n', '\nBe brief.\n');
    const { stdout } = await recipe('diff', folder);
    expect(stdout).toBe(
      'changed thesis › steps › thesis_build_stage_header › name: Plan the proposal → Plan it\n' +
        'changed thesis › files › prompts/header.md\n' +
        '  + Be brief.\n',
    );
    const compared = await readJson<RecipeComparison>('diff', folder, 'software-plan');
    expect(compared.changes).toHaveLength(2);
    expect(compared).toMatchObject({ origin: { name: 'software-plan' }, outdated: [] });
    const { process } = await readJson<{ process: Process }>('show', folder);
    expect(process.stages.map((stage) => stage.origin?.stage)).toEqual([
      undefined,
      'thesis',
      ...Array<undefined>(5).fill(undefined),
    ]);
  });

  test('an origin that has moved on is mentioned', async () => {
    const folder = join(await temporaryFolder(), 'mine');
    await recipe('fork', 'research', '--out', folder);
    await editFile(join(folder, 'stage.yaml'), 'version: ', 'version: 0');
    expect((await recipe('diff', folder)).stdout).toBe(
      `${folder} does what research does.\n` +
        'note: research has a newer research than the one copied.\n' +
        `Take it in with: dialectic recipe merge ${folder}\n`,
    );
  });

  test('a folder that holds something is never written into', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'mine.txt'), 'mine');
    const { code, stderr } = await recipe('fork', 'research', '--out', folder);
    expect(code).toBe(5);
    expect(stderr).toContain('(folder_occupied)');
    expect(await readdir(folder)).toEqual(['mine.txt']);
  });

  test('a process needs a stage that it has', async () => {
    const folder = join(await temporaryFolder(), 'mine');
    const none = await recipe('fork', 'decision-memo', '--out', folder);
    expect(none.stderr).toContain('change, of clarify, propose, challenge, decide');
    expect(none.code).toBe(2);
    const gone = await recipe('fork', 'decision-memo', '--stage', 'gone', '--out', folder);
    expect(gone).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('no stage gone') as string,
    });
    const without = await recipe('fork', 'decision-memo');
    expect(without).toMatchObject({ code: 2, stdout: '' });
  });

  test('a copy under another name is compared with the recipe whose stages it has', async () => {
    const folder = await editedMemo('process.yaml', 'key: decision-memo', 'key: my-memo');
    const changed = 'changed process › key: decision-memo → my-memo\n';
    expect((await recipe('diff', folder)).stdout).toBe(changed);
    expect((await recipe('diff', folder, 'decision-memo')).stdout).toBe(changed);
  });

  test('a fork of a recipe that is not shipped is compared with the copy that it keeps', async () => {
    const own = await editedMemo('process.yaml', 'key: decision-memo', 'key: my-memo');
    const folder = join(await temporaryFolder(), 'mine');
    await recipe('fork', own, '--stage', 'propose', '--out', folder);
    expect((await recipe('diff', folder)).stdout).toBe(
      `${folder} does what the my-memo that it was copied from does.\n`,
    );
    const merged = await recipe('merge', folder);
    expect(merged.code).toBe(2);
    expect(merged.stderr).toContain('names no shipped recipe as its origin');
  });
});

describe('recipe insert', () => {
  const fork = async (name: string, stage: string): Promise<string> => {
    const folder = join(await temporaryFolder(), 'mine');
    await recipe('fork', name, '--stage', stage, '--out', folder);
    return folder;
  };

  test.each([
    ['software-plan', 'antithesis', 'thesis', 'thesis_build_stage_header'],
    ['decision-memo', 'decide', 'propose', 'propose'],
  ])('puts research into %s, wired, valid and with comments kept', async (name, own, at, step) => {
    const folder = await fork(name, own);
    await editFile(join(folder, at, 'stage.yaml'), 'steps:', '# Ours, and dear to us.\nsteps:');
    const inserted = await recipe('insert', folder, 'research', '--before', at);
    expect(inserted).toMatchObject({ code: 0, stderr: '' });
    expect(inserted.stdout).toContain(`${at}/${step} reads clusters, contradictions.`);
    expect(await recipe('validate', folder)).toMatchObject({ code: 0 });
    const { process } = await readJson<{ process: Process }>('show', folder);
    const stages = process.stages.map((stage) => stage.key);
    expect(stages.indexOf('research')).toBe(stages.indexOf(at) - 1);
    const reader = process.stages
      .find((stage) => stage.key === at)!
      .steps.find((one) => one.key === step)!;
    const read = reader.inputs.filter((input) => input.stage === 'research');
    expect(read.map((input) => input.documentKey)).toEqual(['clusters', 'contradictions']);
    expect(await readFile(join(folder, at, 'stage.yaml'), 'utf8')).toContain('# Ours, and dear');
    const text = await readFile(join(folder, 'process.yaml'), 'utf8');
    expect(text).toMatch(/^stages: \[.*research/m);
    const { stdout } = await recipe('diff', folder);
    expect(stdout).toContain('added research › stage');
    expect(stdout).toContain(`${at} › steps › ${step}`);
    expect(stdout).not.toContain('note:');
    expect(stdout.split('\n').filter((line) => line.startsWith('removed'))).toEqual([]);
    const compared = await readJson<RecipeComparison>('diff', folder);
    expect(compared.origin.name).toBe(name);
  });

  test('shows in diff what was changed in the inserted stage', async () => {
    const folder = await fork('decision-memo', 'decide');
    await recipe('insert', folder, 'research', '--after', 'clarify');
    await editFile(join(folder, 'research/stage.yaml'), 'name: Plan the queries', 'name: Ask');
    const { stdout } = await recipe('diff', folder);
    expect(stdout).toContain('research_plan_queries › name: Plan the queries → Ask');
  });

  test.each(['fork', 'copy'])(
    'a renamed %s with an inserted stage is compared with the process, not with the stage',
    async (kind) => {
      const folder = kind === 'fork' ? await fork('decision-memo', 'decide') : await copyMemo();
      await editFile(join(folder, 'process.yaml'), 'key: decision-memo', 'key: my-memo');
      // Nothing stands behind the new stage, so that no other stage changes.
      await recipe('insert', folder, 'research', '--after', 'decide');
      const compared = await readJson<RecipeComparison>('diff', folder);
      expect(compared.origin.name).toBe('decision-memo');
      expect(compared.changes).toContainEqual(
        expect.objectContaining({ stage: 'research', place: 'stage', kind: 'added' }),
      );
    },
  );

  test('takes the folder that it is called in', async () => {
    const folder = await fork('decision-memo', 'decide');
    const words = ['recipe', 'insert', 'research', '--before', 'propose'];
    const inserted = await runDialectic(words, { cwd: folder });
    expect(inserted).toMatchObject({ code: 0, stderr: '' });
    expect(inserted.stdout).toContain('propose/propose reads clusters, contradictions.');
    for (const verb of ['validate', 'diff']) {
      expect(await runDialectic(['recipe', verb], { cwd: folder })).toMatchObject({ code: 0 });
    }
  });

  test('refuses two places, none, a process, and a stage that is there already', async () => {
    const folder = await fork('decision-memo', 'decide');
    const bad = [
      ['research'],
      ['research', '--before', 'propose', '--after', 'clarify'],
      ['software-plan', '--before', 'propose'],
    ];
    for (const words of bad) expect((await recipe('insert', folder, ...words)).code).toBe(2);
    expect((await recipe('insert', folder, 'research', '--before', 'gone')).code).toBe(5);
    await recipe('insert', folder, 'research', '--before', 'propose');
    const again = await recipe('insert', folder, 'research', '--before', 'propose');
    expect(again.stderr).toContain('has a stage research already');
  });
});

describe('recipe merge', () => {
  /** A fork of decision-memo with edits of its own, and a newer decision-memo with others. */
  async function diverge() {
    const root = await temporaryFolder();
    const [mine, newer] = [join(root, 'mine'), join(root, 'newer')];
    await recipe('fork', 'decision-memo', '--stage', 'propose', '--out', mine);
    await cp(join(shipped, 'decision-memo'), newer, { recursive: true });
    await editFile(join(mine, 'propose/stage.yaml'), 'steps:', '# My note.\nsteps:');
    await editFile(join(mine, 'propose/stage.yaml'), 'name: Write a proposal', 'name: Propose');
    await editFile(join(newer, 'propose/stage.yaml'), 'relevance: 0.9', 'relevance: 0.7');
    // Edited without a note of its origin: it must not be overwritten.
    await editFile(join(mine, 'decide/prompts/decision.md'), '\n', '\nBe kind.\n');
    await editFile(join(newer, 'challenge/stage.yaml'), 'name: Challenge', 'name: Attack');
    return { mine, newer };
  }

  test('takes what only the origin changed and keeps what only the fork did', async () => {
    const { mine, newer } = await diverge();
    const merged = await recipe('merge', mine, newer);
    expect(merged).toMatchObject({ code: 0, stderr: '' });
    expect(merged.stdout).toContain('0 conflicts');
    const propose = await readFile(join(mine, 'propose/stage.yaml'), 'utf8');
    expect(propose).toContain('# My note.');
    expect(propose).toContain('name: Propose');
    expect(propose).toContain('relevance: 0.7');
    expect(await readFile(join(mine, 'decide/prompts/decision.md'), 'utf8')).toContain('Be kind.');
    expect(await readFile(join(mine, 'challenge/stage.yaml'), 'utf8')).toContain('name: Attack');
    expect((await recipe('validate', mine)).code).toBe(0);
    const again = await recipe('merge', mine, newer);
    expect(again.stdout).toContain('0 files changed, 0 conflicts');
  });

  test('shows both sides of a conflict, keeps the own one and leaves with 5', async () => {
    const { mine, newer } = await diverge();
    await editFile(join(newer, 'propose/stage.yaml'), 'name: Write a proposal', 'name: Offer');
    const { code, stdout } = await recipe('merge', mine, newer);
    expect(code).toBe(5);
    expect(stdout).toContain(
      'conflict propose › steps › propose › name: yours was kept\n' +
        '  copied:\n    Write a proposal\n  yours:\n    Propose\n  theirs:\n    Offer\n',
    );
    expect(await readFile(join(mine, 'propose/stage.yaml'), 'utf8')).toContain('name: Propose');
  });

  test('needs the version that was copied', async () => {
    const folder = await editedMemo('process.yaml', 'key:', 'key:');
    const { code, stderr } = await recipe('merge', folder);
    expect(code).toBe(2);
    expect(stderr).toContain('--base FOLDER');
  });

  test('merges a stage on its own', async () => {
    const root = await temporaryFolder();
    const [mine, newer] = [join(root, 'mine'), join(root, 'newer')];
    await recipe('fork', 'research', '--out', mine);
    await cp(join(shipped, 'research'), newer, { recursive: true });
    await editFile(join(newer, 'stage.yaml'), 'name: Plan the queries', 'name: Ask');
    expect((await recipe('merge', mine, newer)).code).toBe(0);
    expect(await readFile(join(mine, 'stage.yaml'), 'utf8')).toContain('name: Ask');
  });
});

describe('recipe graph', () => {
  test('prints Mermaid on stdout', async () => {
    const { stdout, stderr, code } = await recipe('graph', 'software-plan');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^flowchart TB\n {2}subgraph stage0\["Questions"\]/);
  });

  test('draws a stage on its own, as JSON if asked', async () => {
    const drawn = await readJson<{ mermaid: string }>('graph', 'research');
    expect(drawn.mermaid.match(/subgraph/g)).toHaveLength(1);
  });
});

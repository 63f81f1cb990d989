import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { loadProcess } from '../../src/recipe/validate.ts';
import { exportSession } from '../../src/session/export.ts';
import { readFactRows, readSession, toFacts } from '../../src/session/read.ts';
import { type NewRun, startRun } from '../../src/session/start.ts';
import { documentedExample } from '../recipes/documented-example.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';
import { runUntil, shipped } from './trivial.ts';

const memo = shipped('decision-memo');
const material = {
  kind: 'constraint_boundaries',
  name: 'limits.md',
  text: 'Not over 9,000 euros.',
};

describeOnBoth('a project', (kind) => {
  let database: Database;
  let tenantId: string;
  beforeAll(async () => {
    database = await openTestStore(kind);
    ({ tenantId } = await newTenant(database));
  });
  const start = (run: Partial<NewRun>) =>
    database.asTenant(tenantId, (tx) =>
      startRun(tx, {
        name: 'brief',
        brief: '',
        process: memo,
        models: ['x/a'],
        untilStage: 'clarify',
        ...run,
      }),
    );
  const first = (project: string) =>
    start({
      project,
      brief: 'Should the library open on Sundays?',
      domain: 'business',
      resources: [material],
      projectOverlay: { role: 'a librarian', standards: ['Count the visitors.'] },
    });

  test('holds several sessions, which share its brief, material, domain and overlay', async () => {
    const one = await first('Library');
    const two = await start({ project: 'Library', overlay: { style: 'Rhymes.' }, models: ['x/b'] });
    expect(two.projectId).toBe(one.projectId);
    const { facts, files, readme } = await database.asTenant(tenantId, async (tx) => {
      const session = await readSession(tx, two.sessionId);
      const exported = await exportSession(tx, session);
      return {
        facts: toFacts(session, await readFactRows(tx, session.id)),
        files: [...exported.files.keys()],
        readme: exported.files.get('project_readme.md')!,
      };
    });
    expect(facts).toMatchObject({
      userRequest: 'Should the library open on Sundays?',
      project: { name: 'Library', domain: 'business' },
      resources: { constraint_boundaries: material.text },
      overlay: { role: 'a librarian', style: 'Rhymes.' },
    });
    expect(facts.overlay.standards).toEqual([
      ...memo.overlay.standards!,
      ...memo.domains['business']!.standards!,
      'Count the visitors.',
    ]);
    for (const { sessionId } of [one, two]) {
      const folder = `session_${sessionId.slice(-12)}/iteration_1/1_clarify/seed_prompt.md`;
      expect(files).toContain(folder);
    }
    expect(files.filter((path) => !path.includes('/')).toSorted()).toEqual([
      'Library.md',
      'project_readme.md',
      'project_settings.json',
    ]);
    expect(readme).toContain('## Other sessions of this project');
    expect(readme).toContain(`session_${one.sessionId.slice(-12)}/`);
    await runUntil(database, { tenantId, sessionId: one.sessionId }, 'awaiting_review');
  }, 120_000);

  test('exports every name that it was given to a file of its own', async () => {
    const long = 'x'.repeat(300);
    const models = [`x/${long}`, 'a/b', 'a-b'];
    const resources = ['one', 'two'].map((text) => ({ ...material, text }));
    const { sessionId } = await start({
      project: `Project ${long}`,
      brief: 'Open?',
      models,
      resources: [...resources, { ...material, name: `${long}.md`, text: 'three' }],
    });
    await runUntil(database, { tenantId, sessionId }, 'awaiting_review');
    const { files, documents } = await database.asTenant(tenantId, async (tx) =>
      exportSession(tx, await readSession(tx, sessionId)),
    );
    const folder = await mkdtemp(join(tmpdir(), 'names-'));
    for (const [path, text] of files) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text, { flag: 'wx' });
    }
    const texts = [...files]
      .filter(([path]) => path.startsWith('general_resource/'))
      .map(([, text]) => text);
    expect(texts.toSorted()).toEqual(['one', 'three', 'two']);
    const data = documents.map(({ dataPath }) => dataPath);
    expect(new Set(data).size).toBe(data.length);
    expect(data.every((path) => files.has(path))).toBe(true);
    await rm(folder, { recursive: true });
  }, 120_000);

  test('runs a stage that is called as something that every object has', async () => {
    const rename = (given: string) => given.replaceAll(/\bpropose\b/g, 'constructor');
    const files = [...documentedExample()].map(([path, text]) => [rename(path), rename(text)]);
    const { sessionId } = await start({
      project: 'constructor',
      brief: 'Open?',
      process: loadProcess(new Map(files as [string, string][])),
      untilStage: 'constructor',
    });
    await runUntil(database, { tenantId, sessionId }, 'awaiting_review');
    const { documents } = await database.asTenant(tenantId, async (tx) =>
      exportSession(tx, await readSession(tx, sessionId)),
    );
    expect(documents.map(({ stage }) => stage)).toEqual(['constructor']);
  }, 120_000);

  test.each<[string, Partial<NewRun>]>([
    ['brief', { brief: 'Should it close on Mondays?' }],
    ['domain', { domain: 'law' }],
    ['overlay', { projectOverlay: { role: 'a poet' } }],
    ['resource constraint_boundaries=limits.md', { resources: [{ ...material, text: 'None.' }] }],
  ])('refuses another %s and says how to go on', async (what, change) => {
    const project = `Shared ${what.split(' ')[0]}`;
    await first(project);
    await expect(start({ project, ...change })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(`has another ${what}.`) as string,
    });
  });

  test('that nobody has named yet needs a brief, and two of one name an id', async () => {
    await expect(start({ project: 'Nowhere' })).rejects.toMatchObject({ code: 'usage_invalid' });
    const twins = [
      await start({ name: 'Twin', brief: 'A' }),
      await start({ name: 'Twin', brief: 'B' }),
    ];
    await expect(start({ project: 'Twin' })).rejects.toMatchObject({
      code: 'usage_invalid',
      message: expect.stringContaining(twins[1]!.projectId) as string,
    });
    const { projectId } = await start({ project: twins[1]!.projectId });
    expect(projectId).toBe(twins[1]!.projectId);
  });

  test('gets no material and no domain that its process would not read', async () => {
    const bad: [Partial<NewRun>, string][] = [
      [{ resources: [{ ...material, kind: 'constraints' }] }, 'There is no resource kind'],
      [{ domain: 'no-such-domain' }, 'has no domain no-such-domain; it has business, health'],
    ];
    for (const [run, message] of bad) {
      await expect(start({ brief: 'A', ...run })).rejects.toMatchObject({
        code: 'usage_invalid',
        message: expect.stringContaining(message) as string,
      });
    }
  });
});

import { beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { saveBlob } from '../../src/documents/blobs.ts';
import { newId } from '../../src/platform/ids.ts';
import { eraseProject } from '../../src/session/erase-project.ts';
import {
  admitSources,
  mergeSource,
  type NewSource,
  readProjectSources,
  splitSource,
} from '../../src/sources/project-sources.ts';
import { describeOnBoth, newTenant, openTestStore } from '../stores.ts';

const given = (title: string, more: Partial<NewSource['draft']> = {}): NewSource => ({
  draft: { title, excerpts: [`What ${title} says.`], ...more },
  origin: 'given',
});

describeOnBoth('the sources of a project', (kind) => {
  let database: Database;
  let tenantId: string;
  beforeAll(async () => {
    database = await openTestStore(kind);
    ({ tenantId } = await newTenant(database));
  });

  const newProject = (): Promise<string> =>
    database.asTenant(tenantId, async (tx) => {
      const id = newId();
      const row = [tenantId, id, 'P', await saveBlob(tx, 'Bake.')];
      await tx.query(
        'insert into projects (tenant_id, id, name, brief_hash) values ($1, $2, $3, $4)',
        row,
      );
      return id;
    });
  const admit = (project: string, sources: readonly NewSource[], mergeAt?: number) =>
    database.asTenant(tenantId, (tx) =>
      admitSources(tx, project, sources, mergeAt === undefined ? {} : { mergeAt }),
    );
  const read = (project: string) =>
    database.asTenant(tenantId, (tx) => readProjectSources(tx, project));

  test('have ids in the order of admission, and are known again by their keys', async () => {
    const project = await newProject();
    const bread = { url: 'https://www.example.org/bread/?utm_source=feed' };
    const first = await admit(project, [given('Bread', bread), given('Rent')]);
    expect(first.map(({ id, isNew }) => [id, isNew])).toEqual([
      ['S1', true],
      ['S2', true],
    ]);
    const more = { url: 'http://example.org/bread', year: 2024, excerpts: ['Another passage.'] };
    const [again] = await admit(project, [given('Bread again', more)]);
    expect(again).toMatchObject({ id: 'S1', isNew: false });
    const sources = await read(project);
    expect(sources.all).toEqual([
      {
        id: 'S1',
        key: 'url:example.org/bread',
        title: 'Bread',
        url: bread.url,
        year: 2024,
        excerpts: ['What Bread says.', 'Another passage.'],
      },
      {
        id: 'S2',
        key: expect.stringMatching(/^text:/),
        title: 'Rent',
        excerpts: ['What Rent says.'],
      },
    ]);
  });

  test('get dense ids from transactions that admit at the same time', async () => {
    const project = await newProject();
    const names = Array.from({ length: 12 }, (_, at) => `Source ${at}`);
    const made = await Promise.all(names.map((name) => admit(project, [given(name)])));
    const ids = made.flat().map(({ id }) => id);
    expect(new Set(ids)).toEqual(new Set(names.map((_, at) => `S${at + 1}`)));
    const sources = await read(project);
    for (const [at, id] of ids.entries()) expect(sources.require(id).title).toBe(names[at]);
  });

  test('of one step have the same ids, whichever lane was faster', async () => {
    const finds = [0, 1].flatMap((lane) =>
      [0, 1, 2].map((index): NewSource => {
        const one = given(`Lane ${lane}, find ${index}`);
        return { ...one, origin: 'research', found: [1, lane, index] };
      }),
    );
    const [one, other] = [await newProject(), await newProject()];
    await admit(one, finds);
    await admit(other, finds.toReversed());
    const titles = (await read(one)).all.map(({ title }) => title);
    expect(titles).toEqual(finds.map(({ draft }) => draft.title));
    expect((await read(other)).all.map(({ title }) => title)).toEqual(titles);
  });

  test('are merged when they are nearly the same, and taken apart again', async () => {
    const project = await newProject();
    const text = Array.from({ length: 60 }, (_, at) => `word${at}`).join(' ');
    const draft = { excerpts: [text] };
    const near = { excerpts: [`${text} and more`] };
    const made = await admit(project, [given('One', draft), given('Two', near)], 0.9);
    expect(made.map(({ id }) => id)).toEqual(['S1', 'S1']);
    const merged = await read(project);
    expect(merged.require('S2')).toMatchObject({ title: 'Two', aliasOf: 'S1' });
    expect(merged.require('S1').excerpts).toEqual([text, `${text} and more`]);
    await database.asTenant(tenantId, (tx) => splitSource(tx, project, 'S2'));
    const apart = await read(project);
    expect(apart.require('S1').excerpts).toEqual([text]);
    expect(apart.require('S2')).not.toHaveProperty('aliasOf');
    await database.asTenant(tenantId, (tx) => mergeSource(tx, project, 'S1', 'S2'));
    expect((await read(project)).standing.map(({ id }) => id)).toEqual(['S2']);
    await expect(
      database.asTenant(tenantId, (tx) => mergeSource(tx, project, 'S2', 'S1')),
    ).rejects.toThrow('S2 and S1 are one source already.');
  });

  test('that were taken apart are not suggested as the same again', async () => {
    const project = await newProject();
    const text = Array.from({ length: 60 }, (_, at) => `word${at}`).join(' ');
    const nearly = (more: string) => given(more, { excerpts: [`${text} ${more}`] });
    await admit(project, [nearly('one'), nearly('two'), nearly('three two')]);
    const suggested = async () => (await read(project)).near.map(({ of, id }) => `${of} ${id}`);
    expect(await suggested()).toEqual(['S2 S1', 'S3 S2']);
    const mergeAndSplit = (id: string, into: string) =>
      database.asTenant(tenantId, async (tx) => {
        await mergeSource(tx, project, id, into);
        await splitSource(tx, project, id);
      });
    await mergeAndSplit('S2', 'S1');
    expect(await suggested()).toEqual(['S3 S2']);
    // Whichever of the two was the alias; the next one is named then.
    await mergeAndSplit('S2', 'S3');
    expect(await suggested()).toEqual(['S3 S1']);
    await database.asTenant(tenantId, (tx) => mergeSource(tx, project, 'S2', 'S1'));
    await mergeAndSplit('S3', 'S2');
    expect(await suggested()).toEqual([]);
  });

  describe('of an erased project', () => {
    test('are gone with their texts, but for those that another project has', async () => {
      const [gone, kept] = [await newProject(), await newProject()];
      const own = `Only here ${newId()}.`;
      await admit(gone, [given('Shared'), given('Own', { excerpts: [own] })]);
      await admit(kept, [given('Shared')]);
      await database.asTenant(tenantId, (tx) => eraseProject(tx, gone));
      expect((await read(gone)).size).toBe(0);
      expect((await read(kept)).require('S1').excerpts).toEqual(['What Shared says.']);
      const left = await database.asTenant(tenantId, (tx) =>
        tx.query('select 1 from blobs where body = $1', [own]),
      );
      expect(left).toEqual([]);
    });
  });
});

import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../test/stores.ts';
import { findRecipe, listShippedRecipes, openRecipeFolder } from './recipe-folders.ts';

describe('recipes', () => {
  test('that come with the program are listed by name and kind', async () => {
    const shipped = await listShippedRecipes();
    expect(shipped.map(({ name, kind }) => `${kind} ${name}`)).toEqual([
      'process decision-memo',
      'stage research',
      'process software-plan',
    ]);
  });

  test('are part of the published package, where dist/ looks for them', () => {
    const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
    expect((JSON.parse(text) as { files: string[] }).files).toEqual(
      expect.arrayContaining(['dist', 'recipes']),
    );
  });

  test('are found by name or by folder, and the shipped name wins', async () => {
    const folder = join(await temporaryFolder(), 'research');
    await mkdir(folder);
    await writeFile(join(folder, 'process.yaml'), '');
    expect(await findRecipe('research')).toMatchObject({ kind: 'stage', shipped: true });
    expect(await findRecipe(folder)).toEqual({
      name: 'research',
      kind: 'process',
      folder,
      shipped: false,
    });
  });

  test.each(['gone', '', '../recipes', '..', 'research/../../src'])(
    'what is none is refused: %j',
    async (name) => {
      await expect(findRecipe(name)).rejects.toMatchObject({ code: 'recipe_unknown' });
    },
  );

  test('a folder without a recipe says what it lacks', async () => {
    const folder = await temporaryFolder();
    expect(() => openRecipeFolder(folder)).toThrow(/neither process\.yaml nor stage\.yaml/);
  });
});

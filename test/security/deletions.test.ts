import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../src', import.meta.url));

/** Every place that deletes a folder with what is in it, and why that is nobody else's. */
const DECIDED: Readonly<Record<string, string>> = {
  'cli/edit-text.ts': 'made by mkdtemp a moment ago',
  'cli/demo.ts': 'made by mkdtemp a moment ago',
  'db/make-image.ts': 'made by mkdtemp a moment ago',
  'db/backup.ts': 'made by mkdir a moment ago, which fails where there is one',
  'db/database-files.ts': 'what a killed process left: a name of ours, and nothing else in it',
};

test('a folder is deleted with what is in it only where that was decided', () => {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' });
  const sources = files.filter(
    (name) => name.endsWith('.ts') && !/\.(test|fixture)\.ts$/.test(name),
  );
  const deleting = sources.flatMap((name) => {
    const text = readFileSync(join(root, name), 'utf8');
    const calls = text.match(/\brm(?:dir)?(?:Sync)?\([^;]*?recursive/g) ?? [];
    return calls.map(() => name.replaceAll('\\', '/'));
  });
  expect(deleting.toSorted()).toEqual(Object.keys(DECIDED).toSorted());
});

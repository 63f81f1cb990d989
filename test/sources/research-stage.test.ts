import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { type Dialectic, insertStageFiles, openDialectic } from '../../src/index.ts';
import { readFolder } from '../recipes/read-folder.ts';
import { afterTheFile, emptyDatabase, temporaryFolder } from '../stores.ts';

const recipes = fileURLToPath(new URL('../../recipes', import.meta.url));
const SOURCES = [
  {
    title: 'Opening hours of libraries',
    excerpts: [
      '# Sundays\n\nIn Riga the library counted 412 visitors on an average Sunday.\n\n' +
        '# Staff\n\nEach opening day needs two people at the desk.\n',
    ],
  },
  { title: 'Costs', excerpts: ['A Sunday costs 310 euros for two staff at the desk.\n'] },
];

let dialectic: Dialectic;
let process: string;
beforeAll(async () => {
  dialectic = await openDialectic({ databaseUrl: await emptyDatabase(), environment: {} });
  afterTheFile(() => dialectic.close());
  process = join(await temporaryFolder(), 'memo');
  const shipped = (name: string) => readFolder(join(recipes, name));
  const { files } = insertStageFiles(shipped('decision-memo'), shipped('research'), {
    before: 'propose',
  });
  for (const [path, text] of files) {
    await mkdir(dirname(join(process, path)), { recursive: true });
    await writeFile(join(process, path), text);
  }
});

/** Runs the research of two offline participants, and gives its files by name. */
async function research(name: string, sources: typeof SOURCES): Promise<Map<string, string>> {
  const out = join(await temporaryFolder(), 'out');
  const { session } = await dialectic.start({
    brief: 'Should the library open on Sundays? It has two staff at the desk and 400 visitors.',
    name,
    process,
    until: 'research',
    models: ['offline/builder', 'offline/skeptic'],
    sources,
  });
  for await (const event of dialectic.work(session, { out })) void event;
  const paths = await readdir(out, { recursive: true });
  const texts = paths
    .filter((path) => path.includes('research/documents/') && path.endsWith('.md'))
    .map(async (path) => [path, await readFile(join(out, path), 'utf8')] as const);
  return new Map(await Promise.all(texts));
}

const bodyOf = (text: string): string => text.replace(/^---\n.*?\n---\n/s, '');

test('research searches the sources, and its findings quote them word for word', async () => {
  const files = await research('Sundays', SOURCES);
  const found = [...files].filter(([path]) => path.includes('sources_found'));
  expect(found.length).toBeGreaterThan(1);
  const [one, other] = found.map(([, text]) => bodyOf(text));
  // Both participants read the same, whoever searched first.
  expect(one).toBe(other);
  expect(one).toContain('A Sunday costs 310 euros for two staff at the desk. [S2]');
  const findings = [...files].find(([path]) => path.includes('findings'))?.[1] ?? '';
  expect(findings).toMatch(/^> .*\n> — \[S[12]\]$/m);
  for (const [, excerpt = '', id] of findings.matchAll(/^> (.+)\n> — \[(S\d)\]$/gm)) {
    const { excerpts = [] } = SOURCES[Number(id?.slice(1)) - 1] ?? {};
    expect(excerpts.join('\n')).toContain(excerpt);
  }
  expect([...files.keys()].join('\n')).toMatch(/clusters[^]*contradictions/);
});

test('without sources research says that it found nothing, and invents nothing', async () => {
  const files = await research('Nothing known', []);
  const texts = [...files.values()].join('\n');
  expect(texts).toContain('searched in 0 sources; 0 sources answered.');
  expect(texts).not.toMatch(/\[S\d/);
});

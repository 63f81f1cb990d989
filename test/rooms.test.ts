import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/** What every room may import: those with nothing of the domain in them, and the error codes. */
const GROUND = ['errors', 'text', 'platform'];
/** What each room may import beside itself and the ground. */
const ARROWS: Record<string, readonly string[]> = {
  errors: [],
  text: ['errors'],
  platform: ['errors', 'text'],
  catalogue: ['recipe'],
  db: [],
  transport: [],
  recipe: [],
  planning: ['recipe'],
  checks: ['recipe'],
  jobs: ['db'],
  models: [],
  sources: ['db', 'documents'],
  gather: ['context', 'models', 'sources'],
  wallet: ['db', 'models'],
  context: ['db', 'models'],
  documents: ['db', 'planning'],
  session: ['recipe', 'planning', 'documents', 'sources', 'jobs', 'db'],
  generation: ['recipe', 'planning', 'checks', 'models', 'sources', 'session'],
  handlers: [
    'recipe',
    'planning',
    'checks',
    'models',
    'wallet',
    'context',
    'documents',
    'sources',
    'session',
    'generation',
    'jobs',
    'db',
  ],
  estimate: ['recipe', 'planning', 'models', 'sources', 'session', 'generation', 'context', 'db'],
  api: [
    'catalogue',
    'recipe',
    'models',
    'gather',
    'wallet',
    'documents',
    'sources',
    'session',
    'handlers',
    'estimate',
    'replay',
    'eval',
    'jobs',
    'db',
    'transport',
  ],
  replay: ['catalogue', 'recipe', 'models', 'documents', 'sources', 'session', 'db'],
  eval: ['documents', 'generation', 'jobs', 'models'],
};
/** The faces may import every room but each other. */
const FACES = ['cli'];
/** Rooms that must stay functions of data to data. */
const PURE = ['errors', 'text', 'recipe', 'planning', 'checks'];
const OUTSIDE_WORLD = /^node:(fs|net|http|https|child_process|worker_threads|sqlite|dns)|^pg$/;

const MAX_FILE_LINES = 400;
const MAX_LINE_LENGTH = 100;
/** The formatter breaks neither comments nor strings: those may be a word too long. */
const MAX_UNFORMATTED_LENGTH = 105;
/** A string or an address that is long in itself cannot be broken by anybody. */
const UNBREAKABLE = /(['"`])(?:(?!\1).){60,}|https?:\/\/\S{60,}/;

function isTooLong(line: string): boolean {
  if (line.length <= MAX_LINE_LENGTH || UNBREAKABLE.test(line)) return false;
  return line.length > MAX_UNFORMATTED_LENGTH || !/['"`/]|^\s*\*/.test(line);
}

function sourceFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => join(folder, name));
}

type Import = { file: string; from: string; specifier: string; to: string | undefined };

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  const specifiers = text.matchAll(/(?:from|import)\s*\(?'([^']+)'/g);
  return [...specifiers].map(([, specifier]) => {
    const target = specifier!.startsWith('.')
      ? relative(join(root, 'src'), resolve(root, dirname(file), specifier!))
      : undefined;
    const from = relative('src', file).split('/')[0]!;
    return { file, from, specifier: specifier!, to: target?.split('/')[0] };
  });
}

const source = sourceFiles('src').filter((file) => !file.endsWith('.test.ts'));
const imports = source.flatMap(importsOf);

describe('rooms', () => {
  test('each has a place in the map', () => {
    const rooms = readdirSync(join(root, 'src'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name);
    const known = new Set([...Object.keys(ARROWS), ...FACES]);
    expect(rooms.filter((room) => !known.has(room))).toEqual([]);
  });

  test('import only along the arrows', () => {
    const wrong = imports.filter(({ from, to }) => {
      if (to === undefined || to === from || from === 'index.ts') return false;
      if (GROUND.includes(to) && !GROUND.includes(from)) return false;
      if (FACES.includes(from)) return FACES.includes(to);
      return !ARROWS[from]?.includes(to);
    });
    expect(wrong.map(({ file, specifier }) => `${file} → ${specifier}`)).toEqual([]);
  });

  test('have no arrow that nothing goes along', () => {
    const used = new Set(imports.map(({ from, to }) => `${from} → ${to}`));
    const drawn = Object.entries(ARROWS).flatMap(([from, rooms]) =>
      rooms.map((to) => `${from} → ${to}`),
    );
    expect(drawn.filter((arrow) => !used.has(arrow))).toEqual([]);
  });

  test('that are faces leave transactions and statements to the others', () => {
    const banned = /\bTransaction\b|\basTenant\(|\.transaction\(|\.query\(/;
    const wrong = source.filter(
      (file) =>
        FACES.some((face) => file.startsWith(`src/${face}/`)) &&
        banned.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(wrong).toEqual([]);
  });

  test('that are pure reach nothing outside the program', () => {
    const wrong = imports.filter(
      ({ from, specifier }) => PURE.includes(from) && OUTSIDE_WORLD.test(specifier),
    );
    expect(wrong.map(({ file, specifier }) => `${file} → ${specifier}`)).toEqual([]);
  });

  test('ask the platform for time and chance', () => {
    const banned = /\bDate\.now\(|\bMath\.random\(|new Date\(\)/;
    const wrong = source.filter(
      (file) =>
        !file.startsWith('src/platform') && banned.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(wrong).toEqual([]);
  });
});

describe('files', () => {
  const all = ['src', 'test', 'bench', 'scripts'].flatMap(sourceFiles);

  test(`are at most ${MAX_FILE_LINES} lines long`, () => {
    const long = all.map((file) => {
      const lines = readFileSync(join(root, file), 'utf8').split('\n').length;
      return { file, lines };
    });
    expect(long.filter(({ lines }) => lines > MAX_FILE_LINES)).toEqual([]);
  });

  test(`have lines of at most ${MAX_LINE_LENGTH} characters, long strings apart`, () => {
    const long = all.flatMap((file) =>
      readFileSync(join(root, file), 'utf8')
        .split('\n')
        .map((line, index) => ({ place: `${file}:${index + 1}`, line }))
        .filter(({ line }) => isTooLong(line)),
    );
    expect(long.map(({ place }) => place)).toEqual([]);
  });
});

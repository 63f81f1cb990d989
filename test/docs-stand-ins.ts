import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

const PACK = `(cd '${root}' && npm pack --pack-destination "$OLDPWD")`;
const INSTALL = 'npm install --global ./dialectic-0.1.0.tgz';
/** One participant of each kind that the pages name; `…` stands for them. */
const MODELS = '-m openai/gpt-5 -m openai/gpt-5-mini';

/**
 * Lines of the pages that are carried out in other words: what a person would be asked at a terminal
 * is agreed to, and what belongs into the clone happens there. Every other line runs as it stands.
 */
const STAND_INS: Readonly<Record<string, readonly string[]>> = {
  // The clone has its packages, and the run of these tests is `npm test`.
  'npm ci': [],
  'npm ci && npm test': [],
  'npm ci && npm run demo': [`npm --prefix '${root}' run demo -- --pace 0 --out "$PWD/demo"`],
  'npm pack': [PACK],
  'npm pack && npm install --global ./dialectic-0.1.0.tgz': [PACK, INSTALL],
  'dialectic keys set openai': ["echo 'sk-not-a-real-key' | dialectic keys set openai"],
  'dialectic run brief.md -m openai/gpt-5 -m anthropic/claude-sonnet-4-5': [
    // Not to its end, so that there is something to resume.
    'dialectic run brief.md -m openai/gpt-5 -m anthropic/claude-sonnet-4-5 --until thesis --yes',
  ],
  'dialectic watch | show | open': ['dialectic watch', 'dialectic show', 'dialectic open'],
  'dialectic run brief.md -m … -p decision-memo': [
    `dialectic run brief.md ${MODELS} -p decision-memo --yes`,
  ],
  'dialectic list | export | models | config | recipe | doctor': [
    'dialectic list',
    // The newest session is the replay, which was not told to write a folder.
    'dialectic export --out copy',
    'dialectic models',
    'dialectic config',
    'dialectic recipe list',
    'dialectic doctor',
  ],
};

/** What is carried out for a line of a page. */
export const toCommands = (line: string): readonly string[] => STAND_INS[line] ?? [line];

/** Commands of npm in the text of a page, each with the test that carries it out. */
export const NPM_LINES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.keys(STAND_INS)
      .filter((line) => line.startsWith('npm '))
      .map((line) => [line, 'test/docs-commands.long.test.ts']),
  ),
  [INSTALL]: 'test/docs-commands.long.test.ts',
  'npx --package=./dialectic-0.1.0.tgz dialectic demo': 'test/install.long.test.ts',
  'npm install --global --prefix ~/.local ./dialectic-0.1.0.tgz': 'test/install.long.test.ts',
  'npm uninstall --global dialectic': 'test/install.long.test.ts',
  'npm prefix --global': 'test/install.long.test.ts',
  'npm install ./dialectic-0.1.0.tgz': 'test/package.test.ts',
  'npm test': 'test/docs-commands.test.ts',
};

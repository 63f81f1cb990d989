import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** Values of a printed command that the program itself makes: verbs, amounts and options. */
const OWN = new Set(['amount', 'flags', 'goOn', 'next', 'parameters', 'place', 'verb']);

test('a value within a command that is printed is quoted for a shell', () => {
  const root = join(import.meta.dirname, '../../src');
  const bare = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .flatMap((file) =>
      readFileSync(join(root, file), 'utf8')
        .split('\n')
        .flatMap((line, at) => {
          const [, command = ''] =
            /\bdialectic ((?:[a-z]+|\$\{(?:next|verb|goOn)\}) [^`]*)/.exec(line) ?? [];
          const values = [...command.matchAll(/\$\{((?:[^{}]|\{[^}]*\})*)\}/g)].map(
            ([, one]) => one!,
          );
          return values
            .filter((value) => !value.startsWith('quoteWord(') && !OWN.has(value))
            .map((value) => `${file}:${at + 1} ${value}`);
        }),
    );
  expect(bare).toEqual([]);
});

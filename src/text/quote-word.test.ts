import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { quoteWord } from './quote-word.ts';

test.each([
  'x;touch${IFS}pwned;',
  '$(touch pwned)',
  '`touch pwned`',
  "it's 'quoted'",
  '~',
  '*',
  '',
  '!x',
  'a\\',
])('a shell reads %s back as one word, and runs nothing', (text) => {
  const read = execFileSync('sh', ['-c', `printf '%s|' ${quoteWord(text)}@1`], { cwd: '/' });
  expect(String(read)).toBe(`${text}@1|`);
});

test('an ordinary id, key, model or path stays as it is, and a line break becomes a blank', () => {
  for (const word of ['8c1e2f3a', 'thesis/case@2', 'openai/gpt-5:x', './plan']) {
    expect(quoteWord(word)).toBe(word);
  }
  expect(quoteWord('a\nrm -rf b')).toBe("'a rm -rf b'");
});

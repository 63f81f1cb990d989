import * as fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { widthOfWindow, wrapLine, wrapText } from './wrap-text.ts';

const ID = '0199a3f0-5c1e-7d2b-9a61-3f2b8c4d5e6f';

test('prose is broken between words, and only where the window ends', () => {
  const text = 'The next call may take more than the cap of this run leaves, so it is paused.';
  expect(wrapLine(text, 50)).toEqual([
    'The next call may take more than the cap of this',
    'run leaves, so it is paused.',
  ]);
  expect(wrapLine(text, 80)).toEqual([text]);
});

test('a command that does not fit gets a line of its own, without the full stop', () => {
  const text =
    `Stopped here. 1 other worker goes on; pause it for all with: dialectic pause ${ID}. ` +
    `What it writes comes into the folder with: dialectic export ${ID} (run_stopped)`;
  expect(wrapLine(text, 50)).toEqual([
    'Stopped here. 1 other worker goes on; pause it for',
    'all with:',
    `dialectic pause ${ID}`,
    'What it writes comes into the folder with:',
    `dialectic export ${ID}`,
    '(run_stopped)',
  ]);
});

test.each([
  `Comment on it with: dialectic feedback clarify "too long" -s ${ID}`,
  `  dialectic run brief.md -p decision-memo -m compatible/alpha -m compatible/beta`,
  `There are two ways to go on from here: dialectic resume ${ID} --budget <dollars>`,
])('what is to be typed stays whole: %s', (line) => {
  const command = line.slice(line.indexOf('dialectic'));
  for (const columns of [20, 50]) {
    expect(wrapLine(line, columns).map((one) => one.trim())).toContain(command);
  }
});

test('paths and addresses stay whole', () => {
  const path = './should-we-open-on-sundays-plan/session_5e6f/iteration_1/project_readme.md';
  expect(wrapLine(`The first page is ${path} in the folder.`, 50)).toEqual([
    'The first page is',
    path,
    'in the folder.',
  ]);
  expect(wrapLine('Open /home/ann/my plans/sundays/project_readme.md', 30)).toEqual([
    'Open',
    '/home/ann/my plans/sundays/project_readme.md',
  ]);
  expect(wrapLine('Nothing answers at http://127.0.0.1:11434/v1/models today', 30)).toEqual([
    'Nothing answers at',
    'http://127.0.0.1:11434/v1/models',
    'today',
  ]);
});

test('a command is not broken by the indentation of its paragraph alone', () => {
  const command = `dialectic resume ${ID}`;
  expect(wrapLine(`- It failed for good. Go on with: ${command}`, 53).at(-1)).toBe(command);
  expect(wrapLine(`- It failed for good. Go on with: ${command}`, 56).at(-1)).toBe(`  ${command}`);
});

test('what follows a bullet or a first column stays below it', () => {
  expect(wrapLine('  12  Who decides whether the shop opens?', 24)).toEqual([
    '  12  Who decides',
    '      whether the shop',
    '      opens?',
  ]);
  expect(wrapLine('- one two three', 9)).toEqual(['- one two', '  three']);
  const row = '  demo/readme.md  the very first page';
  expect(wrapLine(row, 34)).toEqual(['  demo/readme.md  the very first', `${' '.repeat(18)}page`]);
  expect(wrapLine(row, 20)).toEqual(['  demo/readme.md', '    the very first', '    page']);
});

test('code is left as it is, and so is all that goes to no terminal', () => {
  const text = '```\na long line of code here\n```\na b c d e f';
  expect(wrapText(text, 9)).toBe(text.replace('a b c d e f', 'a b c d e\nf'));
  expect(wrapText(text, undefined)).toBe(text);
  expect(widthOfWindow({ columns: 50 })).toBeUndefined();
  expect(widthOfWindow({ isTTY: true })).toBe(80);
});

test('a row of a table is broken between words, too', () => {
  expect(wrapLine('| a long cell | another one |', 16)).toEqual([
    '| a long cell |',
    '  another one |',
  ]);
});

describe('whatever the text', () => {
  const words = fc.array(fc.constantFrom('a', 'word', 'Sätze', '要約', 'and,', 'end.', '12'), {
    minLength: 1,
    maxLength: 40,
  });
  test('no line is wider than the window, and no word is lost or broken', () => {
    fc.assert(
      fc.property(words, fc.integer({ min: 12, max: 90 }), (all, columns) => {
        const lines = wrapLine(all.join(' '), columns);
        expect(lines.join(' ')).toBe(all.join(' '));
        expect(lines.every((line) => stringWidth(line) <= columns)).toBe(true);
      }),
    );
  });
});

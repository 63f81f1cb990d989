import { describe, expect, test } from 'vitest';
import type { EvaluationOptions } from '../api/evaluate.ts';
import { checkEvalOptions, type EvalOptions, toEvaluation } from './eval-options.ts';

const options = (more: Partial<EvalOptions>): EvalOptions => ({
  single: 'openai/a',
  rival: [],
  debate: ['openai/b'],
  judge: ['openai/c'],
  out: 'out',
  singleFolder: [],
  debateFolder: [],
  concurrency: '4',
  process: 'software-plan',
  depth: 'standard',
  result: true,
  shortcuts: true,
  ...more,
});
const FOLDERS = { debate: [], debateFolder: ['d', 'e'], single: '', singleFolder: ['s', 't'] };
const BRIEFS = ['bread.md', 'books.md'];
const check = (more: Partial<EvalOptions>): void => checkEvalOptions(BRIEFS, options(more));

describe('checkEvalOptions', () => {
  const read = (more: Partial<EvalOptions>): EvaluationOptions => {
    check(more);
    const briefs = BRIEFS.map((name) => ({ name, text: 'Bread.' }));
    return toEvaluation(briefs, options(more));
  };

  test('takes one prompt unless rivals are named, each of them and each judge once', () => {
    expect(read({}).rivals).toEqual({ model: 'openai/a', kinds: ['one-prompt'] });
    const rival = ['best-of', 'one-prompt', 'best-of'];
    const { rivals, judges } = read({ rival, words: '15000', judge: ['x/y', 'x/z', 'x/y'] });
    expect(rivals).toEqual({ model: 'openai/a', kinds: ['best-of', 'one-prompt'], words: 15_000 });
    expect(judges).toEqual(['x/y', 'x/z']);
  });

  test('gives each brief its folders, in their order', () => {
    const { briefs, rivals } = read(FOLDERS);
    expect(rivals).toBeUndefined();
    expect(briefs).toEqual([
      { name: 'bread.md', text: 'Bread.', debate: 'd', given: 's' },
      { name: 'books.md', text: 'Bread.', debate: 'e', given: 't' },
    ]);
    expect(read({ singleFolder: ['s', 't'] }).rivals?.kinds).toEqual(['one-prompt']);
  });

  test.each([
    ['no judge', { judge: [] }, '--judge'],
    ['a debate twice', { debateFolder: ['d', 'e'] }, '--debate-folder'],
    ['no debate', { debate: [] }, '--debate-folder'],
    ['no rival', { single: '' }, '--single-folder'],
    ['an unknown rival', { rival: ['two-prompts'] }, 'one-prompt, three-passes, best-of'],
    ['a rival that nobody writes', { ...FOLDERS, rival: ['best-of'] }, '--single'],
    ['an offline judge', { judge: ['offline/builder'] }, 'no language models'],
    ['an offline writer', { single: 'offline/builder' }, 'no language models'],
    ['words for a given folder', { ...FOLDERS, words: '500' }, '--words'],
    ['words that are none', { words: 'many' }, '--words'],
    ['one debate for two briefs', { debate: [], debateFolder: ['d'] }, '2 briefs and 1 folder'],
    ['three rivals for two briefs', { singleFolder: ['s', 't', 'u'] }, '2 briefs and 3 folders'],
  ])('refuses %s', (_, more, named) => {
    expect(() => check(more)).toThrow(
      expect.objectContaining({
        code: 'usage_invalid',
        message: expect.stringContaining(named) as string,
      }) as Error,
    );
  });
});

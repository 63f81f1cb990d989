import { describe, expect, test } from 'vitest';
import { checkEvalOptions, type EvalOptions, toEvaluation } from './eval-options.ts';

const options = (more: Partial<EvalOptions>): EvalOptions => ({
  single: 'openai/a',
  debate: ['openai/b'],
  judge: ['openai/c'],
  out: 'out',
  concurrency: '4',
  process: 'software-plan',
  depth: 'standard',
  result: true,
  shortcuts: true,
  ...more,
});
const FOLDERS = { debate: [], debateFolder: 'd', single: '', singleFolder: 's' };

describe('checkEvalOptions', () => {
  test('reads the words', () => {
    const single = (more: Partial<EvalOptions>) => {
      checkEvalOptions(options(more));
      return toEvaluation('Bread.', options(more)).single;
    };
    expect(single({})).toEqual({ model: 'openai/a' });
    expect(single({ words: '15000' })).toEqual({ model: 'openai/a', words: 15_000 });
    expect(single(FOLDERS)).toEqual({ folder: 's' });
  });

  test.each([
    ['no judge', { judge: [] }, '--judge'],
    ['a debate twice', { debateFolder: 'd' }, '--debate-folder'],
    ['no debate', { debate: [] }, '--debate-folder'],
    ['no single side', { single: '' }, '--single-folder'],
    ['an offline judge', { judge: ['offline/builder'] }, 'no language models'],
    ['an offline single prompt', { single: 'offline/builder' }, 'no language models'],
    ['words for a given folder', { ...FOLDERS, words: '500' }, '--words'],
    ['words that are none', { words: 'many' }, '--words'],
    ['a budget without a debate', { ...FOLDERS, budget: '1' }, 'budget'],
  ])('refuses %s', (_, more, named) => {
    expect(() => checkEvalOptions(options(more))).toThrow(
      expect.objectContaining({
        code: 'usage_invalid',
        message: expect.stringContaining(named) as string,
      }) as Error,
    );
  });
});

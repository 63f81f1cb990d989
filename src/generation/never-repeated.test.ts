import { describe, expect, test } from 'vitest';
import type { Step } from '../recipe/types.ts';
import type { JobInput } from './job-input.ts';
import { neverRepeated } from './never-repeated.ts';

const pair = { name: 'pairs', multiple: true };
const plan = { name: 'plan', multiple: false };
const step = { alone: 'copy', extends: null, inputs: [pair, plan] } as unknown as Step;
const planned = { documentKey: 'whole' };
const input = (name: string, content: unknown, document_key = name): JobInput =>
  ({ name, content, document_key }) as JobInput;
const given = (over: Partial<Step>, inputs: readonly JobInput[]) =>
  neverRepeated({ step: { ...step, ...over }, planned, inputs });

describe('a document must not merely repeat', () => {
  const [text, other] = [{ kpis: ['Loaves sold'] }, { kpis: ['Loaves lost'] }];

  test('what it was given', () => {
    const inputs = [input('pairs', text), input('plan', { notes: 'Short.' })];
    expect(given({ alone: 'run' }, inputs)).toEqual([text, { notes: 'Short.' }]);
  });

  test('one of several texts that differ', () => {
    expect(given({}, [input('pairs', text), input('pairs', other)])).toEqual([text, other]);
  });

  test('but may take over the only text that it merges, also where several wrote the same', () => {
    const notes = input('plan', { notes: 'Short.' });
    expect(given({}, [input('pairs', text), notes])).toEqual([{ notes: 'Short.' }]);
    expect(given({}, [input('pairs', text), input('pairs', { ...text })])).toEqual([]);
  });

  test('but may stay as it was', () => {
    expect(given({}, [input('earlier', text, 'whole')])).toEqual([]);
    expect(given({ extends: 'plan' }, [input('plan', text)])).toEqual([]);
  });
});

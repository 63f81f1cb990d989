import { describe, expect, test } from 'vitest';
import { adviseGates } from './gate-advice.ts';

const advise = (gate: string, scope?: string, currency = 'USD') => {
  const limit = scope && { gate, scope, currency, project: 'p1' };
  const { hints, parameters } = adviseGates({ gates: [gate], shortages: limit ? [limit] : [] });
  return `${hints}|${parameters}`;
};

describe('adviseGates', () => {
  test.each([
    ['session', 'USD', ' --budget DOLLARS'],
    ['session', 'token', ' --budget-tokens TOKENS'],
  ])('a cap of the run is raised by the command that goes on: %s %s', (scope, currency, ending) => {
    expect(advise('budget', scope, currency)).toBe(
      `The next call may take more than the cap of this run leaves.|${ending}`,
    );
  });

  test.each([
    ['budget', 'tenant', 'USD', 'dialectic wallet budget DOLLARS.|'],
    ['budget', 'tenant', 'token', 'dialectic wallet budget TOKENS --tokens.|'],
    ['budget', 'project', 'token', 'dialectic wallet budget TOKENS --tokens --project p1.|'],
    ['funds', 'user', 'USD', 'dialectic wallet grant DOLLARS.|'],
    ['funds', 'project', 'token', 'dialectic wallet grant TOKENS --tokens --project p1.|'],
  ])('%s of %s in %s names the command of the wallet', (gate, scope, currency, ending) => {
    expect(advise(gate, scope, currency).split(': ')[1]).toBe(ending);
  });

  test('a large call needs nothing but a yes; other gates say nothing of money', () => {
    expect(advise('approval')).toContain('resume approves');
    expect(advise('user')).toBe('|');
  });
});

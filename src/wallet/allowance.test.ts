import { describe, expect, test } from 'vitest';
import { DialecticError } from '../errors/errors.ts';
import { AllowanceGate } from './allowance.ts';

const amounts = (usdMicros: number) => ({ usdMicros, tokens: 10 });
const short = (why: string): DialecticError => new DialecticError('funds_short', why);
const gateOf = (usdMicros: number | null, tokens: number | null = null): AllowanceGate =>
  new AllowanceGate({ usdMicros, tokens });

describe('AllowanceGate', () => {
  test('gives back what a call did not use', async () => {
    const gate = gateOf(100);
    for (let calls = 0; calls < 9; calls++) {
      const end = await gate.take(amounts(20), short);
      end(amounts(10));
    }
    await expect(gate.take(amounts(20), short)).rejects.toMatchObject({
      code: 'funds_short',
      message: '$0.000020 at most, and the budget of the run leaves $0.000010',
    });
  });

  test('lets a call wait for others that hold the rest, and refuses it when they used it', async () => {
    const gate = gateOf(100);
    const first = await gate.take(amounts(90), short);
    const waiting = [gate.take(amounts(50), short), gate.take(amounts(50), short)];
    first(amounts(20));
    const second = await waiting[0]!;
    second(amounts(40));
    await expect(waiting[1]).rejects.toMatchObject({ code: 'funds_short' });
  });

  test('counts tokens too, and nothing where nothing is limited', async () => {
    await expect(gateOf(null, 9).take(amounts(1), short)).rejects.toThrow(/10 tokens at most/);
    const end = await gateOf(null).take({ usdMicros: 1e15, tokens: 1e15 }, short);
    end(amounts(1));
  });

  test('waits no longer than its caller does', async () => {
    const gate = gateOf(100);
    await gate.take(amounts(90), short);
    const leaving = new AbortController();
    const waiting = gate.take(amounts(50), short, leaving.signal);
    leaving.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
  });
});

import type { ServerResponse } from 'node:http';
import { DONE, delta, send } from './answer-events.ts';
import type { Attack } from './hostile-run.ts';

/** What an attack may end in: a saved document, or one of these codes. */
type Expected = 'saved' | `${string}_${string}`;

export type NamedAttack = {
  readonly name: string;
  readonly expected: readonly Expected[];
  readonly attack: Attack;
  /** Settings of the provider, for attacks on time. */
  readonly provider?: object;
};

/** An attack with what it may end in. */
export const one = (
  name: string,
  expected: Expected | readonly Expected[],
  attack: Attack,
  provider?: object,
): NamedAttack => ({
  name,
  expected: [expected].flat(),
  attack,
  ...(provider && { provider }),
});

export const JSON_TYPE = { 'content-type': 'application/json' };
/** An error status with a message. */
export const refuses =
  (status: number, message: string, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    send(
      response,
      [JSON.stringify({ error: { message, type: 'x' } })],
      { ...JSON_TYPE, ...headers },
      status,
    );

/** The events that end an answer. */
export const END = [delta('', 'stop'), DONE];

/** Codes for what is no answer in the format of the provider. */
export const BAD = [
  'provider_bad_response',
  'continuation_exhausted',
  'model_output_invalid',
] as const;

import { DialecticError } from '../../errors/errors.ts';
import { isPersonaName, PERSONA_NAMES, type PersonaName } from './personas.ts';

/** `always`, or the number of the call that is hit, counted from 1. */
type When = 'always' | number;

/** What an id such as `offline/builder?fail=3&delay=20` asks for. */
export type OfflineOptions = {
  readonly persona: PersonaName;
  /** Throws a retryable error. */
  readonly fail?: When;
  /** Answers with no text. */
  readonly empty?: When;
  /** Answers with text that no one can read as JSON. */
  readonly badjson?: When;
  /** Ends every answer with `length` after so many characters. */
  readonly cut?: number;
  /** Milliseconds before each delta. */
  readonly delay?: number;
};

const NAMES = ['fail', 'empty', 'badjson', 'cut', 'delay'] as const;
type OptionName = (typeof NAMES)[number];
const COUNTED: readonly OptionName[] = ['fail', 'empty', 'badjson'];

/**
 * Reads the part of the id behind `offline/`: a persona, and behind a question mark what goes
 * wrong on purpose. Calls are counted for each id of one provider.
 *
 * - `fail=3` the 3rd call fails with a retryable error; `fail=always` each does
 * - `empty=2`, `badjson=2` (or `always`) the 2nd answer is empty, or is not JSON
 * - `cut=500` every answer ends with finish reason `length` after 500 characters
 * - `delay=20` 20 ms pass before each delta
 */
export function parseOfflineName(name: string): OfflineOptions {
  const mark = name.indexOf('?');
  const persona = mark < 0 ? name : name.slice(0, mark);
  if (!isPersonaName(persona)) {
    throw refuse(name, `there is no persona "${persona}"; known are ${PERSONA_NAMES.join(', ')}`);
  }
  const options: Partial<Record<OptionName, When>> = {};
  for (const [key, value] of new URLSearchParams(mark < 0 ? '' : name.slice(mark + 1))) {
    const known = NAMES.find((one) => one === key);
    if (!known) throw refuse(name, `"${key}" is no option; known are ${NAMES.join(', ')}`);
    options[known] = readValue(name, known, value);
  }
  return { persona, ...options } as OfflineOptions;
}

function readValue(name: string, key: OptionName, value: string): When {
  if (value === 'always' && COUNTED.includes(key)) return 'always';
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
  const accepted = COUNTED.includes(key) ? 'a number from 1, or always' : 'a number from 1';
  throw refuse(name, `"${key}" takes ${accepted}`);
}

const refuse = (name: string, why: string): DialecticError =>
  new DialecticError('model_unknown', `offline/${name}: ${why}.`, {
    details: { model: `offline/${name}` },
  });

/** Whether the call with this number is one that goes wrong. */
export const isHit = (when: When | undefined, call: number): boolean =>
  when === 'always' || when === call;

import { DialecticError } from '../../errors/errors.ts';
import { PERSONA_NAMES, type PersonaName } from './personas.ts';

/** `always`, or the number of the call that is hit, counted from 1. */
type When = 'always' | number;

const COUNTED = ['fail', 'empty', 'badjson'] as const;
const NAMES = [...COUNTED, 'cut', 'delay'] as const;
type OptionName = (typeof NAMES)[number];

/** What an id such as `offline/builder?fail=3&delay=20` asks for. */
export type OfflineOptions = { readonly persona: PersonaName } & {
  readonly [name in (typeof COUNTED)[number]]?: When;
} & { readonly cut?: number; readonly delay?: number };

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
  const wanted = mark < 0 ? name : name.slice(0, mark);
  const persona = PERSONA_NAMES.find((one) => one === wanted);
  if (!persona) {
    throw refuse(name, `there is no persona "${wanted}"; known are ${PERSONA_NAMES.join(', ')}`);
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
  const isCounted = COUNTED.some((one) => one === key);
  if (value === 'always' && isCounted) return 'always';
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
  throw refuse(name, `"${key}" takes a number from 1${isCounted ? ', or always' : ''}`);
}

const refuse = (name: string, why: string): DialecticError =>
  new DialecticError('model_unknown', `offline/${name}: ${why}.`, {
    details: { model: `offline/${name}` },
  });

/** Whether the call with this number is one that goes wrong. */
export const isHit = (when: When | undefined, call: number): boolean =>
  when === 'always' || when === call;

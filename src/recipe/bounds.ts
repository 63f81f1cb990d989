import { DialecticError } from '../errors/errors.ts';
import type { Contract, ContractNode, Process, Step } from './types.ts';

/**
 * The most that a recipe may ask for by a number. Code counts up to these numbers (the offline author,
 * the estimate, a chain of calls), so a recipe from somebody else could occupy the process or the wallet
 * with them. Each is several times what a document of a debate has.
 */
export const MOST = {
  /** Entries that one list must have; shipped recipes ask for two at most. */
  items: 500,
  /** Characters that one text must have: about 3,000 words. */
  length: 20_000,
  /** A book. */
  words: 100_000,
  /** A model that writes 2,000 tokens at once comes to the longest text in these. */
  turns: 200,
  idleTurns: 20,
  /** The longest answer that a provider may give. */
  chars: 1_000_000,
  /** Lanes; a run has far fewer. */
  quorum: 100,
  /** Values that a document must have where lists stand within lists. */
  values: 10_000,
} as const;

/** How many values a contract demands; entries of lists within lists multiply. */
export function countLeast({ properties, items, minItems = 1 }: ContractNode): number {
  if (items !== undefined) return Math.max(1, minItems) * countLeast(items);
  const parts = Object.values(properties ?? {}).map(countLeast);
  return Math.max(
    1,
    parts.reduce((sum, part) => sum + part, 0),
  );
}

/**
 * Refuses a process with a number beyond its bound. The schemas refuse it in files; a process that comes
 * from a store or from a program has passed none.
 */
export function requireBounded({ stages }: Process): void {
  for (const stage of stages) {
    for (const step of stage.steps) checkStep(`${stage.key}/stage.yaml: ${step.key}`, step);
    for (const [path, contract] of Object.entries(stage.contracts)) {
      checkContract(`${stage.key}/${path}`, contract);
    }
  }
}

function checkStep(place: string, { continuation, quorum }: Step): void {
  atMost(place, 'continuation.max_turns', continuation.maxTurns, MOST.turns);
  atMost(place, 'continuation.max_idle_turns', continuation.maxIdleTurns, MOST.idleTurns);
  atMost(place, 'continuation.max_chars', continuation.maxChars, MOST.chars);
  atMost(place, 'quorum', quorum ?? 1, MOST.quorum);
}

function checkContract(place: string, contract: Contract): void {
  const visit = (node: ContractNode): void => {
    atMost(place, 'minItems', node.minItems ?? 0, MOST.items);
    atMost(place, 'minLength', node.minLength ?? 0, MOST.length);
    for (const words of Object.values({ one: 0, ...numbersOf(node['x-words']) })) {
      atMost(place, 'x-words', words, MOST.words);
    }
    for (const child of Object.values(node.properties ?? {})) visit(child);
    if (node.items !== undefined) visit(node.items);
  };
  visit(contract);
  atMost(place, 'the number of values that it demands', countLeast(contract), MOST.values);
}

const numbersOf = (words: ContractNode['x-words']): Readonly<Record<string, number>> =>
  typeof words === 'number' ? { words } : (words ?? {});

function atMost(place: string, field: string, value: number, most: number): void {
  if (value <= most) return;
  const message = `${place}: ${field} is ${value} and must be at most ${most}.`;
  throw new DialecticError('recipe_invalid', message, { details: { place, field, value, most } });
}

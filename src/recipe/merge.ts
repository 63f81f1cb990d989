import { isSame } from '../text/canonical-json.ts';
import type { Stage, Step, StepInput } from './types.ts';
import { hashStage, hashStep } from './version.ts';

/** Both sides changed one place, and not in the same way; the fork's side was kept. */
export type MergeConflict = {
  readonly stage: string;
  /** For example `steps › decide › prompt`. */
  readonly place: string;
  readonly base: unknown;
  readonly fork: unknown;
  readonly origin: unknown;
};

type MergedStage = {
  readonly stage: Stage;
  readonly conflicts: readonly MergeConflict[];
};

/** A value as it was when the fork was made, as the fork has it, and as the origin has it. */
export type Sides<Value> = { readonly base: Value; readonly fork: Value; readonly origin: Value };
/** Records a conflict. */
type Note = (place: string, sides: Sides<unknown>) => void;

/**
 * Takes what a newer origin changed since `base` into a fork. What only one side changed is
 * taken; what both changed differently keeps the fork's side and is named as a conflict.
 */
export function mergeOrigin(base: Stage, fork: Stage, origin: Stage): MergedStage {
  const conflicts: MergeConflict[] = [];
  const note: Note = (place, sides) => conflicts.push({ stage: fork.key, place, ...sides });
  const pick = <Value>(read: (stage: Stage) => Value): Sides<Value> => ({
    base: read(base),
    fork: read(fork),
    origin: read(origin),
  });
  const stage: Stage = {
    ...fork,
    name: mergeValue(
      pick((one) => one.name),
      'name',
      note,
    ),
    description: mergeValue(
      pick((one) => one.description),
      'description',
      note,
    ),
    seedPrompt: mergeValue(
      pick((one) => one.seedPrompt),
      'seed_prompt',
      note,
    ),
    files: mergeRecord(
      pick((one) => one.files),
      'files',
      note,
    ),
    contracts: mergeRecord(
      pick((one) => one.contracts),
      'contracts',
      note,
    ),
    steps: mergeKeyed(pick(stepsWithoutOrigin), (step) => step.key, 'steps', note, mergeStep),
    origin: {
      process: fork.origin?.process ?? '',
      stage: origin.key,
      version: hashStage(origin),
    },
  };
  return { stage: { ...stage, steps: stage.steps.map(pointTo(origin, fork)) }, conflicts };
}

/** Where a step was copied from is no difference between the sides. */
const stepsWithoutOrigin = (stage: Stage): readonly Step[] =>
  stage.steps.map((step) => ({ ...step, origin: null }));

/** A merged step descends from the newer origin's; one that only the fork has keeps its own. */
const pointTo =
  (origin: Stage, fork: Stage) =>
  (step: Step): Step => {
    const source = origin.steps.find((one) => one.key === step.key);
    if (source === undefined) {
      return fork.steps.find((one) => one.key === step.key) ?? step;
    }
    const hash = hashStep(origin, source);
    return { ...step, origin: { stage: origin.key, step: source.key, hash } };
  };

function fieldsOf(step: Step | undefined): Record<string, unknown> {
  if (step === undefined) return {};
  const { key: _key, inputs: _inputs, origin: _origin, ...fields } = step;
  return fields;
}

function mergeStep(sides: Sides<Step | undefined>, place: string, note: Note): Step {
  const merged = mergeRecord(mapSides(sides, fieldsOf), place, note);
  const inputs = mergeKeyed(
    mapSides(sides, (step): readonly StepInput[] => step?.inputs ?? []),
    (input) => input.name,
    `${place} › inputs`,
    note,
    (inputSides, inputPlace) => mergeValue(inputSides, inputPlace, note)!,
  );
  return { ...sides.fork!, ...(merged as Partial<Step>), inputs };
}

/** The same part of each side. */
export const mapSides = <From, To>(sides: Sides<From>, change: (side: From) => To): Sides<To> => ({
  base: change(sides.base),
  fork: change(sides.fork),
  origin: change(sides.origin),
});

function mergeValue<Value>(sides: Sides<Value>, place: string, note: Note): Value {
  const { base, fork, origin } = sides;
  if (isSame(fork, origin) || isSame(base, origin)) return fork;
  if (isSame(base, fork)) return origin;
  note(place, sides);
  return fork;
}

/** Merges field by field; a field that one side lacks is a removal there. */
export function mergeRecord<Value>(
  sides: Sides<Readonly<Record<string, Value>>>,
  place: string,
  note: Note,
): Record<string, Value> {
  const keys = new Set([...Object.keys(sides.fork), ...Object.keys(sides.origin)]);
  const merged: Record<string, Value> = {};
  for (const key of keys) {
    const value = mergeValue(
      mapSides(sides, (side) => side[key]),
      `${place} › ${key}`,
      note,
    );
    if (value !== undefined) merged[key] = value;
  }
  return merged;
}

/** Merges lists whose members have keys: by member, then by order. */
export function mergeKeyed<Item>(
  sides: Sides<readonly Item[]>,
  keyOf: (item: Item) => string,
  place: string,
  note: Note,
  mergeBoth: (sides: Sides<Item | undefined>, place: string, note: Note) => Item,
): Item[] {
  const byKey = mapSides(sides, (items) => new Map(items.map((item) => [keyOf(item), item])));
  const merged = new Map<string, Item>();
  for (const key of new Set([...byKey.fork.keys(), ...byKey.origin.keys()])) {
    const members = mapSides(byKey, (items) => items.get(key));
    const here = `${place} › ${key}`;
    const inBoth = members.fork !== undefined && members.origin !== undefined;
    const item = inBoth ? mergeBoth(members, here, note) : mergeValue(members, here, note);
    if (item !== undefined) merged.set(key, item);
  }
  const orders = mapSides(byKey, (items) => [...items.keys()]);
  const order = mergeOrder(orders, place, note);
  return order.flatMap((key) => merged.get(key) ?? []);
}

/** The order of who moved members; each side's additions stay behind what precedes them. */
function mergeOrder(sides: Sides<readonly string[]>, place: string, note: Note): string[] {
  const { base, fork, origin } = sides;
  const isShared = (key: string): boolean => fork.includes(key) && origin.includes(key);
  const shared = mapSides(sides, (keys) => keys.filter(isShared));
  const known = shared.base.length === shared.fork.length ? shared.base : shared.origin;
  const weMoved = !isSame(known, shared.fork);
  const theyMoved = !isSame(known, shared.origin);
  if (weMoved && theyMoved && !isSame(shared.fork, shared.origin)) {
    note(`order of ${place}`, { base, fork, origin });
  }
  return weMoved || !theyMoved ? weave(fork, origin) : weave(origin, fork);
}

function weave(lead: readonly string[], other: readonly string[]): string[] {
  const woven = [...lead];
  for (const [index, key] of other.entries()) {
    if (woven.includes(key)) continue;
    const before = other.slice(0, index).findLast((one) => woven.includes(one));
    woven.splice(before === undefined ? 0 : woven.indexOf(before) + 1, 0, key);
  }
  return woven;
}

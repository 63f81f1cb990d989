import { isSame } from '../text/canonical-json.ts';
import type { Sides } from './merge.ts';
import { type MergeConflict, mapSides, mergeKeyed, mergeOrigin, mergeRecord } from './merge.ts';
import type { Process, Stage } from './types.ts';
import { hashStage } from './version.ts';

type MergedProcess = {
  readonly process: Process;
  readonly conflicts: readonly MergeConflict[];
};

/**
 * Takes a newer version of a shipped process into a fork of an older one. Stages that the fork
 * never touched become the newer ones; forked stages merge place by place.
 */
export function mergeProcess(base: Process, fork: Process, origin: Process): MergedProcess {
  const conflicts: MergeConflict[] = [];
  const note = (place: string, sides: Sides<unknown>): void => {
    conflicts.push({ stage: '', place, ...sides });
  };
  const sides: Sides<Process> = { base, fork, origin };
  const stages = mergeKeyed(
    mapSides(sides, (process) => process.stages),
    (stage) => stage.key,
    'stages',
    note,
    (stage) => mergeStage(stage, origin.key, conflicts),
  );
  const fields = mergeRecord(mapSides(sides, fieldsOf), 'process', note);
  const gates = mergeRecord(mapSides(sides, gatesOf), 'gates', note);
  const transitions = stages.slice(1).map((to, at) => {
    const from = stages[at]?.key ?? '';
    return { from, to: to.key, gate: gates[from] ?? false };
  });
  return { process: { ...fork, ...(fields as Partial<Process>), stages, transitions }, conflicts };
}

function mergeStage(
  sides: Sides<Stage | undefined>,
  process: string,
  conflicts: MergeConflict[],
): Stage {
  const { base, fork, origin } = sides;
  if (base !== undefined && isSame(fork, base)) return origin!;
  // A stage that was edited without a note of its origin is a fork all the same.
  const version = hashStage(base ?? origin!);
  const noted = { ...fork!, origin: fork!.origin ?? { process, stage: fork!.key, version } };
  const merged = mergeOrigin(base ?? origin!, noted, origin!);
  conflicts.push(...merged.conflicts);
  return merged.stage;
}

function fieldsOf(process: Process): Record<string, unknown> {
  const { stages: _stages, transitions: _transitions, ...fields } = process;
  return fields;
}

const gatesOf = (process: Process): Record<string, boolean> =>
  Object.fromEntries(process.transitions.map((one) => [one.from, one.gate]));

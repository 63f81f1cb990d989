import { isSame } from '../text/canonical-json.ts';
import { flattenStage, stepOfPlace } from './flat-stage.ts';
import type { Process, Stage } from './types.ts';
import { hashStage } from './version.ts';

/** One difference; `place` reads like `steps › decide › prompt` or `files › prompts/x.md`. */
export type RecipeChange = {
  readonly stage: string;
  readonly place: string;
  readonly kind: 'added' | 'removed' | 'changed';
  readonly before?: unknown;
  readonly after?: unknown;
};

/** What a stage does otherwise than another; a step that is new or gone is one change. */
export function diffStages(before: Stage, after: Stage): RecipeChange[] {
  const [old, now] = [flattenStage(before), flattenStage(after)];
  const oldSteps = new Set(before.steps.map((step) => step.key));
  const newSteps = new Set(after.steps.map((step) => step.key));
  const stage = after.key;
  const changes: RecipeChange[] = [];
  for (const step of before.steps) {
    if (newSteps.has(step.key)) continue;
    changes.push({ stage, place: `steps › ${step.key}`, kind: 'removed', before: step });
  }
  for (const step of after.steps) {
    if (oldSteps.has(step.key)) continue;
    changes.push({ stage, place: `steps › ${step.key}`, kind: 'added', after: step });
  }
  for (const place of new Set([...old.keys(), ...now.keys()])) {
    const step = stepOfPlace(place);
    if (step !== null && !(oldSteps.has(step) && newSteps.has(step))) continue;
    if (place === 'order of steps' && !isReordered(before, after)) continue;
    const [was, is] = [old.get(place), now.get(place)];
    if (isSame(was, is)) continue;
    if (!old.has(place)) changes.push({ stage, place, kind: 'added', after: is });
    else if (!now.has(place)) changes.push({ stage, place, kind: 'removed', before: was });
    else changes.push({ stage, place, kind: 'changed', before: was, after: is });
  }
  return changes;
}

const shared = (keys: readonly string[] = [], others: readonly string[] = []): string[] =>
  keys.filter((key) => others.includes(key));

/** Whether the steps that both have stand in another order. */
function isReordered(before: Stage, after: Stage): boolean {
  const [old, now] = [before, after].map((stage) => stage.steps.map((step) => step.key));
  return !isSame(shared(old, now), shared(now, old));
}

/** What a process does otherwise than another, stage by stage. */
export function diffProcesses(before: Process, after: Process): RecipeChange[] {
  const { stages: _old, ...oldFields } = before;
  const { stages: _new, ...newFields } = after;
  const changes: RecipeChange[] = [];
  const fields = new Set([...Object.keys(oldFields), ...Object.keys(newFields)]);
  for (const place of fields as Set<keyof typeof oldFields>) {
    const [was, is] = [oldFields[place], newFields[place]];
    if (!isSame(was, is)) {
      changes.push({ stage: '', place, kind: 'changed', before: was, after: is });
    }
  }
  for (const stage of before.stages) {
    if (after.stages.some((one) => one.key === stage.key)) continue;
    changes.push({ stage: stage.key, place: 'stage', kind: 'removed', before: stage });
  }
  for (const stage of after.stages) {
    const old = before.stages.find((one) => one.key === stage.key);
    if (old === undefined) {
      changes.push({ stage: stage.key, place: 'stage', kind: 'added', after: stage });
    } else if (hashStage(old) !== hashStage(stage)) changes.push(...diffStages(old, stage));
  }
  return changes;
}

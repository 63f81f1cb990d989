import type { Stage } from './types.ts';

const SEPARATOR = ' › ';
const at = (...parts: readonly string[]): string => parts.join(SEPARATOR);

/**
 * A stage as a flat map from a readable place to a value, so that a step that moves is one change
 * and not many. Origins are left out, since they say nothing about what the stage does.
 */
export function flattenStage(stage: Stage): Map<string, unknown> {
  const flat = new Map<string, unknown>();
  flat.set('name', stage.name);
  flat.set('description', stage.description);
  flat.set('lanes', stage.lanes);
  flat.set('seed_prompt', stage.seedPrompt);
  flat.set(
    'order of steps',
    stage.steps.map((step) => step.key),
  );
  for (const step of stage.steps) {
    const { key, inputs, origin: _origin, ...fields } = step;
    for (const [field, value] of Object.entries(fields)) flat.set(at('steps', key, field), value);
    for (const input of inputs) flat.set(at('steps', key, 'inputs', input.name), input);
    flat.set(
      at('steps', key, 'order of inputs'),
      inputs.map((input) => input.name),
    );
  }
  for (const [path, text] of Object.entries(stage.files)) flat.set(at('files', path), text);
  for (const [path, contract] of Object.entries(stage.contracts)) {
    flat.set(at('contracts', path), contract);
  }
  return flat;
}

/** The step that a place belongs to; null for places of the stage itself. */
export function stepOfPlace(place: string): string | null {
  const [kind, key] = place.split(SEPARATOR);
  return kind === 'steps' ? (key ?? null) : null;
}

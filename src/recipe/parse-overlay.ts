import { OVERLAY_SCHEMA } from './schemas.ts';
import type { Overlay } from './types.ts';
import { requireValid } from './validate.ts';
import { parseYamlFile } from './yaml-file.ts';

/** Reads one layer from a YAML file of its own; a field that no prompt knows is refused. */
export function parseOverlay(file: string, text: string): Overlay {
  const { value, issues } = parseYamlFile(file, text, OVERLAY_SCHEMA);
  requireValid(issues);
  return value as Overlay;
}

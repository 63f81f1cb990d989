import { fileURLToPath } from 'node:url';
import { configureProcess } from '../../src/recipe/configure-process.ts';
import type { Process } from '../../src/recipe/types.ts';
import { loadProcess } from '../../src/recipe/validate.ts';
import { readFolder } from './read-folder.ts';

/** A process of the folder recipes/, as users get it. */
export const shippedWhole = (name: string): Process =>
  loadProcess(readFolder(fileURLToPath(new URL(`../../recipes/${name}`, import.meta.url))));

/** A process of the folder recipes/, the debate alone. */
export const shipped = (name: string): Process => debateAlone(shippedWhole(name));

/** A process without its questions, its result stage and its shortcuts. */
export function debateAlone(process: Process): Process {
  const settings = { depth: 'standard', ask: false, result: false, shortcuts: false } as const;
  return configureProcess(process, { ...settings, laneCount: 2 });
}

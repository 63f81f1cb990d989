import { fileURLToPath } from 'node:url';
import type { Process } from '../../src/recipe/types.ts';
import { loadProcess } from '../../src/recipe/validate.ts';
import { readFolder } from './read-folder.ts';

/** A process of the folder recipes/, as users get it. */
export const shipped = (name: string): Process =>
  loadProcess(readFolder(fileURLToPath(new URL(`../../recipes/${name}`, import.meta.url))));

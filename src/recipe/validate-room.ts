import { findRoom, type Room } from './find-room.ts';
import { DEPTHS, type Depth, type LineIndex, type Process, type RecipeIssue } from './types.ts';
import { locate } from './yaml-file.ts';

/** Sections that a message names: those that take most. */
const NAMED = 3;

/**
 * The contracts whose fields cannot be said in their words (`x-words`) in full sentences: one issue
 * for each depth. A writer of such a document clips its sentences or overruns.
 */
export function checkRoom(process: Process, lines: LineIndex): RecipeIssue[] {
  const narrow = new Map<string, RecipeIssue>();
  for (const stage of process.stages) {
    for (const step of stage.steps.filter(({ skip, compute }) => !skip && compute === null)) {
      const { contract } = step.output;
      const isByDepth = typeof stage.contracts[contract]?.['x-words'] === 'object';
      for (const depth of isByDepth ? DEPTHS : (['standard'] as const)) {
        const room = findRoom(stage, step, depth);
        if (room === null || room.needed <= room.allowed) continue;
        const file = `${stage.key}/${contract}`;
        const place = locate(lines, file, isByDepth ? ['x-words', depth] : ['x-words']);
        const message = describe(room, isByDepth ? depth : null);
        // Steps may share a contract.
        narrow.set(JSON.stringify([place, message]), { code: 'no_room', message, ...place });
      }
    }
  }
  return [...narrow.values()];
}

const words = (count: number): string => count.toLocaleString('en');

function describe({ needed, allowed, parts }: Room, depth: Depth | null): string {
  const largest = parts.slice(0, NAMED).map((part) => `${part.key} ${words(part.words)}`);
  const at = depth === null ? '' : ` at depth ${depth}`;
  return (
    `the fields take ${words(needed)} words in full sentences${at} and the document has ` +
    `${words(allowed)}; most take ${largest.join(', ')}. Raise x-words to ${words(needed)} or ` +
    'more, take out fields, or say how many entries of a list are enough (x-items)'
  );
}

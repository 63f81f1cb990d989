import { lineOf, type SourceScores } from './levels.ts';
import type { Source } from './source.ts';

/** A source with the scores that it was admitted with. */
export type Listed = { readonly source: Source; readonly scores?: SourceScores };

/** The list of sources of a prompt, and those of which it gives the id alone. */
export type SourceList = { readonly text: string; readonly offloaded: readonly string[] };

/**
 * Sources in the order of their ids, at level 2 as far as `room` characters go and by their ids from
 * there on. What stands for one source depends on those before it alone, so that a new source is
 * appended, and providers find the bytes before it in their prompt cache.
 */
export function listSources(listed: readonly Listed[], room: number): SourceList {
  const offloaded: string[] = [];
  let text = '';
  for (const { source, scores } of listed) {
    const line = lineOf(source, 2, scores);
    // Once the room is used up it stays so, or a shorter line would come before a longer one.
    if (offloaded.length === 0 && text.length + line.length <= room) text += line;
    else {
      offloaded.push(source.id);
      text += lineOf(source, 3);
    }
  }
  return { text, offloaded };
}

import { DialecticError } from '../errors/errors.ts';
import { gatherSources } from '../gather/gather-sources.ts';
import type { SourceDraft } from '../sources/source.ts';
import { tell } from './output.ts';

/**
 * Reads the files, folders and addresses that a person named as sources. A place that was named and
 * cannot be read is an error; what cannot be read within a folder is told and left out.
 */
export async function gatherPlaces(places: readonly string[]): Promise<SourceDraft[]> {
  if (places.length === 0) return [];
  const { sources, refused } = await gatherSources(places);
  for (const { place, error } of refused) {
    if (places.includes(place)) throw error;
    tell(`Left out: ${error.message}`);
  }
  for (const { draft } of sources) {
    if (draft.degraded !== undefined) tell(`Not checked: ${draft.title}: ${draft.degraded}`);
  }
  if (sources.length > 0) return sources.map(({ draft }) => draft);
  throw new DialecticError('usage_invalid', `There is no source in ${places.join(', ')}.`);
}

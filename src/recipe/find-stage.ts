import { DialecticError } from '../errors/errors.ts';
import { nearestName } from '../text/nearest-name.ts';
import { simplifyName } from '../text/simplify-name.ts';
import type { Process, Stage } from './types.ts';

/**
 * Finds a stage as people name it: by its key, by the name that the screen shows, or by a path into
 * the folder of a run, such as `iteration_1/2_thesis`.
 */
export function requireStage(process: Process, wanted: string): Stage {
  const { stages } = process;
  const exact = stages.find(({ key }) => key === wanted);
  if (exact) return exact;
  const plain = simplifyName(wanted);
  const found = stages.filter(
    ({ key, name }) =>
      simplifyName(key) === plain || simplifyName(name) === plain || leadsTo(wanted, key),
  );
  const [stage] = found;
  if (stage && found.length === 1) return stage;
  const candidates = found.length > 0 ? found : stages;
  const lines = candidates.map(({ key, name }) => `  ${key}  ${name}`).join('\n');
  if (stage) {
    const message = `${wanted} names ${found.length} stages. Take the key of one:\n${lines}`;
    throw new DialecticError('usage_invalid', message, {
      details: { candidates: found.map(({ key }) => key) },
    });
  }
  const names = stages.flatMap(({ key, name }) => [key, name]);
  const nearest = nearestName(wanted, names);
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  const why = process.omitted.includes(wanted)
    ? `This run leaves the stage ${wanted} out.`
    : `There is no stage ${wanted}.${hint}`;
  throw new DialecticError('usage_invalid', `${why} The stages are:\n${lines}`, {
    details: { stages: stages.map(({ key }) => key) },
  });
}

/** Whether a folder on the path is that of the stage: its number and its key. */
const leadsTo = (path: string, key: string): boolean =>
  path.split(/[/\\]/).some((part) => /^\d+_/.test(part) && part.replace(/^\d+_/, '') === key);

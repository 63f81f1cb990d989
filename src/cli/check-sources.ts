import type { Dialectic } from '../api/dialectic.ts';
import { DialecticError } from '../errors/errors.ts';
import { checkSources, isCheckDue, type SourceCheck } from '../gather/check-source.ts';
import { readSourcesSettings } from '../gather/sources-settings.ts';
import { now } from '../platform/clock.ts';
import { readConfigurationFiles } from './configuration.ts';

/** Which sources of a project are checked. */
export type CheckScope = {
  /** Their ids; all that have an address where there is none. */
  readonly wanted: readonly string[];
  /** Only those that were read so many days ago. */
  readonly olderThanDays?: number;
};

/** A source and how it stands now, without the page. */
export type CheckedSource = Omit<SourceCheck, 'found'> & {
  readonly id: string;
  readonly title: string;
};

/**
 * Fetches the pages of a project's sources anew and compares them with what was read of each. It asks
 * from here, as `sources add` does, and changes nothing in the store.
 */
export async function checkProject(
  sources: Pick<Dialectic['sources'], 'list' | 'show'>,
  project: string,
  { wanted, olderThanDays = 0 }: CheckScope,
): Promise<CheckedSource[]> {
  const ids = new Set(wanted.map((id) => id.toUpperCase()));
  const listed = (await sources.list(project)).filter(
    ({ id, aliasOf, url }) => ids.has(id) || (ids.size === 0 && url !== undefined && !aliasOf),
  );
  const missing = [...ids].find((id) => !listed.some((source) => source.id === id));
  // It says which there are.
  if (missing !== undefined) await sources.show(project, missing);
  const due = listed.filter(({ admittedAt }) =>
    isCheckDue(new Date(admittedAt), olderThanDays, now()),
  );
  const known = await Promise.all(due.map(({ id }) => sources.show(project, id)));
  const { allowPrivate } = readSourcesSettings(readConfigurationFiles());
  const checks = await checkSources(
    known.map(({ url, excerpts }) => ({ ...(url !== undefined && { url }), excerpts })),
    allowPrivate === undefined ? {} : { allowPrivate },
  );
  return checks.map((check, at) => {
    const { found: _, ...told } = check;
    const { id, title } = known[at]!;
    return { id, title, ...told };
  });
}

/** The lines of `sources check`. */
export function describeChecks(checks: readonly CheckedSource[]): string[] {
  if (checks.length === 0) return ['There is no source with an address to check.'];
  return checks.map((check) => `${check.id}  ${stateOf(check)}  ${check.title}`);
}

function stateOf({ state, url, likeness = 0, reason }: CheckedSource): string {
  if (state === 'changed') return `changed, ${Math.floor(likeness * 100)} % alike`;
  if (state === 'moved') return `moved to ${url}`;
  return reason === undefined ? state : `${state} (${reason.replace(/\.$/, '')})`;
}

/** Days as `--older-than` takes them. */
export function readDays(text: string | undefined): { readonly olderThanDays?: number } {
  if (text === undefined) return {};
  const olderThanDays = Number(text);
  if (Number.isFinite(olderThanDays) && olderThanDays >= 0) return { olderThanDays };
  throw new DialecticError('usage_invalid', '--older-than takes a number of days.');
}

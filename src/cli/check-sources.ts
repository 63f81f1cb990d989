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
  /** Only those that were read, or checked, so many days ago. */
  readonly olderThanDays?: number;
};

/** A source and how it stands now, without the page. */
export type CheckedSource = Omit<SourceCheck, 'found'> & {
  readonly id: string;
  readonly title: string;
};

/**
 * Fetches the pages of a project's sources anew, compares them with what was read of each, and notes
 * how each stands. It asks from here, as `sources add` does.
 */
export async function checkProject(
  sources: Pick<Dialectic['sources'], 'list' | 'show' | 'recordChecks'>,
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
  const due = listed.filter(({ admittedAt, checked }) =>
    isCheckDue(new Date(checked?.at ?? admittedAt), olderThanDays, now()),
  );
  const known = await Promise.all(due.map(({ id }) => sources.show(project, id)));
  const { allowPrivate } = readSourcesSettings(readConfigurationFiles().configuration);
  const checks = await checkSources(
    known.map(({ url, excerpts, copies }) => {
      const sha256 = copies.at(-1)?.sha256;
      return { ...(url && { url }), ...(sha256 && { sha256 }), excerpts };
    }),
    allowPrivate === undefined ? {} : { allowPrivate },
  );
  const told = checks.map((check, at) => {
    const { found: _, ...state } = check;
    const { id, title } = known[at]!;
    return { id, title, ...state };
  });
  const states = told.map((check) => {
    const { title: _, at, ...state } = check;
    return { ...state, at: at.toISOString() };
  });
  await sources.recordChecks(project, states);
  return told;
}

/** The lines of `sources check`. */
export function describeChecks(checks: readonly CheckedSource[]): string[] {
  if (checks.length === 0)
    return ['There is no source to check: none has an address, or none is due.'];
  return checks.map((check) => `${check.id}  ${describeState(check)}  ${check.title}`);
}

/** How a source stands, in a few words. */
export function describeState({
  state,
  url,
  likeness = 0,
  reason,
}: Pick<CheckedSource, 'state' | 'url' | 'likeness' | 'reason'>): string {
  if (state === 'changed') return `changed, ${Math.floor(likeness * 100)} % alike`;
  if (state === 'moved') return `moved to ${url}`;
  return reason === undefined ? state : `${state} (${reason.replace(/\.$/, '')})`;
}

/** Days as `--older-than` takes them. */
export function readDays(text: string | undefined): { readonly olderThanDays?: number } {
  if (text === undefined) return {};
  const olderThanDays = /^\d+(?:\.\d+)?d?$/.test(text) ? Number.parseFloat(text) : Number.NaN;
  if (Number.isFinite(olderThanDays)) return { olderThanDays };
  throw new DialecticError('usage_invalid', '--older-than takes a number of days, as in 30d.');
}

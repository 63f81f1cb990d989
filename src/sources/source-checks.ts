import type { Transaction } from '../db/transaction.ts';
import { idOf, ordinalOf } from './source.ts';

const STATES = ['unchanged', 'changed', 'moved', 'gone', 'unchecked'] as const;
type CheckState = (typeof STATES)[number];

/** What was found where the page of a source was looked at again. */
type CheckDetails = {
  /** Why it is gone or could not be checked. */
  readonly reason?: string;
  /** Where it is now, where it has moved. */
  readonly url?: string;
  /** The share of runs of three words that what was read and the page have in common. */
  readonly likeness?: number;
};

/** How a source stood when it was last looked at. */
export type LastCheck = CheckDetails & { readonly state: CheckState; readonly at: Date };

/** The same as it is handed over to be stored; `at` is the time as ISO 8601. */
export type CheckedState = CheckDetails & {
  readonly id: string;
  readonly state: CheckState;
  readonly at: string;
};

/** Notes how sources of a project stood; an older look never replaces a newer one. */
export async function recordChecks(
  tx: Transaction,
  projectId: string,
  checks: readonly CheckedState[],
): Promise<void> {
  if (checks.length === 0) return;
  await tx.query(
    `update sources s set checked_at = c.at, check_state = c.state, check_details = c.details
     from unnest($2::int[], $3::timestamptz[], $4::text[], $5::jsonb[])
       as c (source, at, state, details)
     where s.project_id = $1 and s.ordinal = c.source
       and (s.checked_at is null or s.checked_at <= c.at)`,
    [
      projectId,
      checks.map(({ id }) => ordinalOf(id) ?? null),
      checks.map(({ at }) => at),
      checks.map(({ state }) => state),
      checks.map(({ reason, url, likeness }) =>
        JSON.stringify({ ...(reason && { reason }), ...(url && { url }), likeness }),
      ),
    ],
  );
}

/** The last look at each source of a project that was checked, by its id. */
export async function readChecks(
  tx: Transaction,
  projectId: string,
): Promise<ReadonlyMap<string, LastCheck>> {
  const rows = await tx.query<{
    ordinal: number;
    checked_at: Date | null;
    check_state: string | null;
    check_details: unknown;
  }>(
    `select ordinal, checked_at, check_state, check_details from sources
     where project_id = $1 and checked_at is not null`,
    [projectId],
  );
  return new Map(
    rows.flatMap(({ ordinal, checked_at, check_state, check_details }) => {
      const state = STATES.find((one) => one === check_state);
      if (checked_at === null || state === undefined) return [];
      // As recordChecks put it there.
      return [[idOf(ordinal), { ...(check_details as CheckDetails), state, at: checked_at }]];
    }),
  );
}

import type { Database } from '../db/database.ts';
import type { TenantQueries } from '../db/transaction.ts';
import type { PlannedJob } from '../planning/types.ts';
import { onceFor, SizedMemo } from '../text/memo.ts';

const MOST_CHARACTERS = 1_000_000;

/** Lanes of one database, each by a contribution with which it began a lineage; neither ever changes. */
const keptOrigins = onceFor((_database: Database) => new SizedMemo<string>(MOST_CHARACTERS));

/** The lane that began the lineage: for a critique the participant whose proposal it is about. */
export async function readOrigin(
  database: Database,
  reads: TenantQueries,
  { sourceGroup }: Pick<PlannedJob, 'sourceGroup'>,
): Promise<string | undefined> {
  if (sourceGroup === null) return undefined;
  const known = keptOrigins(database).get(`${reads.tenantId}/${sourceGroup}`);
  if (known !== undefined) return known;
  const [row] = await reads.query<{ lane_id: string | null }>(
    `select j.lane_id from contributions c
     join jobs j on j.tenant_id = c.tenant_id and j.id = c.job_id
     where c.id = $1`,
    [sourceGroup],
    'read-origin',
  );
  if (!row?.lane_id) return undefined;
  keepOrigin(database, reads.tenantId, sourceGroup, row.lane_id);
  return row.lane_id;
}

/** Keeps which lane begins a lineage with a contribution that is being saved. */
export function keepOrigin(
  database: Database,
  tenantId: string,
  contributionId: string,
  laneId: string,
): void {
  const key = `${tenantId}/${contributionId}`;
  keptOrigins(database).keep(key, laneId, key.length + laneId.length);
}

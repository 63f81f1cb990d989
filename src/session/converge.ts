import type { Transaction } from '../db/database.ts';
import { type Ballot, chooseLane, readRanking } from '../planning/choose-lane.ts';
import type { PlannedInput } from '../planning/types.ts';
import { DialecticError } from '../platform/errors.ts';
import type { Convergence } from '../recipe/types.ts';
import type { SessionView } from './read.ts';

/**
 * Counts the lanes' blind rankings and notes whose documents the results follow. With one lane, or
 * with no ballots, it is the first lane; a person may choose otherwise.
 */
export async function converge(tx: Transaction, session: SessionView): Promise<void> {
  if (session.chosenBy === 'person') return;
  const { convergence } = session.process;
  const ballots = convergence ? await readBallots(tx, session, convergence) : [];
  const candidates = await candidateLanes(tx, session, convergence);
  const { laneId } = chooseLane(candidates, ballots);
  await saveChoice(tx, session, laneId, 'ballots');
}

async function readBallots(tx: Transaction, session: SessionView, convergence: Convergence) {
  const { stage, documentKey } = convergence.ballots;
  const rows = await tx.query<{ lane_id: string; content: unknown; inputs: PlannedInput[] }>(
    `select lane_id, content, inputs from documents
     where tenant_id = $1 and session_id = $2 and iteration = $3 and stage_key = $4
       and document_key = $5 and not superseded order by identity`,
    [session.tenantId, session.id, session.iteration, stage, documentKey],
  );
  const owners = await candidateOwners(tx, session, convergence);
  return rows.map((row): Ballot => {
    const shown = row.inputs.flatMap((input) => input.ids).filter((id) => owners.has(id));
    const laneIds = [...new Set(shown)].map((id) => owners.get(id)!);
    return {
      voterLaneId: row.lane_id,
      ranking: readRanking(convergence, row.content, laneIds),
    };
  });
}

/** Which lane wrote each rival document. */
async function candidateOwners(
  tx: Transaction,
  session: SessionView,
  { candidates }: Convergence,
): Promise<Map<string, string>> {
  const rows = await tx.query<{ id: string; lane_id: string }>(
    `select id, lane_id from documents where tenant_id = $1 and session_id = $2
       and iteration = $3 and stage_key = $4 and document_key = $5`,
    [session.tenantId, session.id, session.iteration, candidates.stage, candidates.documentKey],
  );
  return new Map(rows.map((row) => [row.id, row.lane_id]));
}

async function candidateLanes(
  tx: Transaction,
  session: SessionView,
  convergence: Convergence | null,
) {
  if (!convergence) return session.lanes;
  const owners = new Set((await candidateOwners(tx, session, convergence)).values());
  const present = session.lanes.filter((lane) => owners.has(lane.id));
  return present.length > 0 ? present : session.lanes;
}

/** A person chooses the lane that the results follow. */
export async function choosePerson(
  tx: Transaction,
  session: SessionView,
  ordinal: number,
): Promise<void> {
  const lane = session.lanes.find((one) => one.ordinal === ordinal);
  if (!lane) throw new DialecticError('usage_invalid', `There is no lane ${ordinal}.`);
  await saveChoice(tx, session, lane.id, 'person');
}

async function saveChoice(
  tx: Transaction,
  session: SessionView,
  laneId: string,
  by: 'ballots' | 'person',
): Promise<void> {
  await tx.query(
    'update sessions set chosen_lane_id = $3, chosen_by = $4 where tenant_id = $1 and id = $2',
    [session.tenantId, session.id, laneId, by],
  );
}

import type { Transaction } from '../db/transaction.ts';
import { DialecticError } from '../errors/errors.ts';
import { type CountingRound, countBallots } from '../planning/count-ballots.ts';
import { rivalsByLabel } from '../planning/deal-labels.ts';
import { readBallot } from '../planning/read-ballot.ts';
import type { PlannedInput } from '../planning/types.ts';
import type { Convergence, OwnVotes } from '../recipe/types.ts';
import type { SessionLane, SessionView } from './read.ts';

/** One lane's ballot as it was read; lanes are ids. */
type LaneVote = {
  readonly voter: string;
  /** The lanes by the labels that their documents bore on this ballot: A, B, …. */
  readonly labels: readonly string[];
  /** The best first; empty where the ballot could not be read. */
  readonly ranking: readonly string[];
  /** Why it does not count; null where it does. */
  readonly problem: string | null;
};

/** How the lanes chose, as it is kept with the session; lanes are ids. */
export type Vote = {
  readonly chosen: string;
  readonly ownVotes: OwnVotes;
  readonly candidates: readonly string[];
  readonly ballots: readonly LaneVote[];
  readonly rounds: readonly CountingRound[];
  readonly points: Readonly<Record<string, number>>;
  readonly reason: string;
  readonly rule: string;
};

/**
 * Counts the lanes' blind rankings and notes whose documents the results follow. Where nothing can
 * be counted it is the first lane, and `chosen_by` says so. A person's choice stays.
 */
export async function converge(tx: Transaction, session: SessionView): Promise<void> {
  const [owners, rows] = await readRivals(tx, session);
  const candidates = candidateLanes(session, owners);
  const vote = holdVote(session, candidates, owners, rows);
  await tx.query('update sessions set vote = $2 where id = $1', [
    session.id,
    vote && JSON.stringify(vote),
  ]);
  if (session.chosenBy === 'person') return;
  if (vote?.ballots.some(({ problem }) => problem === null)) {
    return saveChoice(tx, session, vote.chosen, 'ballots');
  }
  const { laneId } = countBallots(candidates, []);
  await saveChoice(tx, session, laneId, 'default');
}

/** Which lane wrote each rival document. */
type Owners = ReadonlyMap<string, string>;
type BallotRow = { lane_id: string; content: unknown; inputs: PlannedInput[] };

/** The rival documents and the ballots on them; nothing where the process holds no vote. */
async function readRivals(
  tx: Transaction,
  { id, iteration, process }: SessionView,
): Promise<[Owners, readonly BallotRow[]]> {
  const { convergence } = process;
  if (!convergence) return [new Map(), []];
  const { candidates, ballots } = convergence;
  const [rivals, rows] = await Promise.all([
    tx.query<{ id: string; lane_id: string }>(
      `select id, lane_id from documents where session_id = $1
         and iteration = $2 and stage_key = $3 and document_key = $4`,
      [id, iteration, candidates.stage, candidates.documentKey],
    ),
    tx.query<BallotRow>(
      `select lane_id, content, inputs from documents
       where session_id = $1 and iteration = $2 and stage_key = $3
         and document_key = $4 and not superseded`,
      [id, iteration, ballots.stage, ballots.documentKey],
    ),
  ]);
  return [new Map(rivals.map((row) => [row.id, row.lane_id])), rows];
}

/** Null where the process holds no vote or there are no two rivals. */
function holdVote(
  session: SessionView,
  candidates: readonly SessionLane[],
  owners: Owners,
  rows: readonly BallotRow[],
): Vote | null {
  const { convergence } = session.process;
  if (!convergence || candidates.length < 2) return null;
  const ownVotes = convergence.ownVotes ?? 'count';
  const ballots = readBallots(session, convergence, owners, rows);
  const countable = ballots.filter(({ problem }) => problem === null);
  const { laneId, ...count } = countBallots(
    candidates,
    countable.map(({ voter, ranking }) => ({ voterLaneId: voter, ranking })),
    ownVotes,
  );
  return {
    chosen: laneId,
    ownVotes,
    candidates: candidates.map((lane) => lane.id),
    ballots,
    ...count,
  };
}

function readBallots(
  session: SessionView,
  convergence: Convergence,
  owners: Owners,
  rows: readonly BallotRow[],
): LaneVote[] {
  const byLane = new Map(rows.map((row) => [row.lane_id, row]));
  return session.lanes.flatMap(({ id }): LaneVote[] => {
    const row = byLane.get(id);
    if (!row) return [];
    const labels = rivalsByLabel(session.process, row.inputs).map((rival) => owners.get(rival)!);
    return [{ voter: id, labels, ...readVote(convergence, row.content, labels) }];
  });
}

function readVote(convergence: Convergence, content: unknown, labels: readonly string[]) {
  if (labels.length < 2) return { ranking: [], problem: 'It was shown fewer than two rivals.' };
  const { ranking, problems } = readBallot(convergence, content, labels);
  const problem = problems.map(({ path, message }) => `${path} ${message}`).join(' ');
  return { ranking, problem: problem || null };
}

/** The lanes with a rival document; all where there is none. */
function candidateLanes({ lanes }: SessionView, owners: Owners): readonly SessionLane[] {
  const writers = new Set(owners.values());
  const present = lanes.filter((lane) => writers.has(lane.id));
  return present.length > 0 ? present : lanes;
}

/** Makes the results follow the lane that a person names, whatever the ballots say. */
export async function chooseLaneByHand(
  tx: Transaction,
  session: SessionView,
  ordinal: number,
): Promise<void> {
  const lane = session.lanes.find((one) => one.ordinal === ordinal);
  if (!lane) {
    const there = session.lanes.map((one) => `${one.ordinal} (${one.model})`).join(', ');
    throw new DialecticError('usage_invalid', `There is no lane ${ordinal}; there are ${there}.`);
  }
  await saveChoice(tx, session, lane.id, 'person');
}

async function saveChoice(
  tx: Transaction,
  session: SessionView,
  laneId: string,
  by: NonNullable<SessionView['chosenBy']>,
): Promise<void> {
  // A person may have chosen since the session was read; only a person changes that.
  await tx.query(
    `update sessions set chosen_lane_id = $2, chosen_by = $3 where id = $1
       and ($3 = 'person' or chosen_by is distinct from 'person')`,
    [session.id, laneId, by],
  );
}

import type { TenantQueries, Transaction } from '../db/transaction.ts';
import { DialecticError } from '../errors/errors.ts';
import { newId } from '../platform/ids.ts';

type NewStageRun = {
  /** Made here where absent. */
  readonly id?: string;
  readonly sessionId: string;
  readonly iteration: number;
  readonly stageKey: string;
};

export async function createStageRun(tx: Transaction, run: NewStageRun): Promise<string> {
  const { id = newId() } = run;
  await tx.query(
    `insert into stage_runs (tenant_id, id, session_id, iteration, stage_key)
     values ($1, $2, $3, $4, $5)`,
    [tx.tenantId, id, run.sessionId, run.iteration, run.stageKey],
  );
  return id;
}

/** Takes a stage run up again that is over; returns its id. */
export async function reopenStageRun(tx: Transaction, run: NewStageRun): Promise<string> {
  const [row] = await tx.query<{ id: string }>(
    `update stage_runs set state = 'running', finished_at = null
     where session_id = $1 and iteration = $2 and stage_key = $3
     returning id`,
    [run.sessionId, run.iteration, run.stageKey],
  );
  if (!row) throw new DialecticError('not_found', `Stage ${run.stageKey} was never opened.`);
  return row.id;
}

type StepState = 'waiting' | 'running' | 'completed' | 'failed';

/** Where the lanes of a stage stand, and the version that a decision to wait must name. */
export type StageStanding = {
  readonly version: number;
  /** By lane and step. A lane that ended too early has the step '*'. */
  readonly steps: ReadonlyMap<string, ReadonlyMap<string, StepState>>;
};

export async function readStanding(tx: TenantQueries, stageRunId: string): Promise<StageStanding> {
  const current = tx.query<{ version: number }>(
    'select version from stage_runs where id = $1',
    [stageRunId],
    'read-stage-version',
  );
  const settled = tx.query<{ lane_id: string; step_key: string; state: StepState }>(
    `select lane_id, step_key, state from lane_steps
     where stage_run_id = $1`,
    [stageRunId],
    'read-lane-steps',
  );
  const [[run], rows] = await Promise.all([current, settled]);
  const steps = new Map<string, Map<string, StepState>>();
  for (const row of rows) {
    const lane = steps.get(row.lane_id) ?? new Map<string, StepState>();
    steps.set(row.lane_id, lane.set(row.step_key, row.state));
  }
  return { version: run?.version ?? 0, steps };
}

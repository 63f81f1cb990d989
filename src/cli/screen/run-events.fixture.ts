import type { SessionEvent } from '../../session/event-types.ts';

/** The time of every made-up event, unless it says otherwise. */
export const AT = '2026-11-15T20:00:00.000Z';

/** An event with the fields that matter, and what every event has. */
export const told = (kind: SessionEvent['kind'], fields: object): SessionEvent =>
  ({ cursor: '', at: AT, iteration: 1, kind, ...fields }) as SessionEvent;

/** What happens to the work of a step: one event of its job. */
export const job = (
  kind: 'job-created' | 'job-started' | 'job-completed' | 'job-retried' | 'job-failed',
  place: { readonly stage: string; readonly step: string; readonly lane?: number },
  fields: object = {},
): SessionEvent => {
  const { stage, step, lane = 1 } = place;
  const jobId = `${stage}/${step}/${lane}`;
  return told(kind, { jobId, type: 'EXECUTE', status: STATUS[kind], stage, step, lane, ...fields });
};

const STATUS = {
  'job-created': 'pending',
  'job-started': 'processing',
  'job-completed': 'completed',
  'job-retried': 'retrying',
  'job-failed': 'failed',
} as const;

/** The job of a stage as a whole, which ends after those of its participants. */
export const stageJob = (
  kind: 'job-created' | 'job-completed' | 'job-failed',
  stage: string,
): SessionEvent =>
  told(kind, {
    jobId: stage,
    type: 'PLAN',
    status: STATUS[kind],
    step: null,
    stage,
    lane: null,
  });

/** A participant begins a stage: the job that plans its steps. */
export const laneJob = (stage: string, lane: number, fields: object = {}): SessionEvent =>
  told('job-created', {
    jobId: `${stage}/${lane}`,
    type: 'PLAN',
    status: 'pending',
    step: null,
    stage,
    lane,
    ...fields,
  });

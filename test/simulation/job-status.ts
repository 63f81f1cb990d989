import { type JobStatus, TRANSITIONS } from '../../src/jobs/transitions.ts';

/** What a worker may pick up, as db/functions/job-claim.sql has it. */
export const CLAIMABLE: readonly JobStatus[] = [
  'pending',
  'retrying',
  'pending_next_step',
  'pending_continuation',
];

/** Whether the table of transitions leads from one status to the other. */
export function mayFollow(from: JobStatus, to: JobStatus): boolean {
  const allowed: readonly JobStatus[] = TRANSITIONS[from];
  return allowed.includes(to);
}

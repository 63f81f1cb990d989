/** The types of a job; the type alone decides which handler runs it. */
export const JOB_TYPES = ['PLAN', 'EXECUTE', 'RENDER'] as const;
export type JobType = (typeof JOB_TYPES)[number];

/** What a job stands for: it plans a stage's lanes, plans a lane's steps, or does a step's work. */
export type JobRole = 'stage' | 'lane' | 'step';

/**
 * Every status and the ways on from it. The trigger in db/functions/job-states.sql refuses all
 * others; a test compares the two tables, and the simulator runs on this one.
 */
export const TRANSITIONS = {
  pending: ['processing', 'cancelled', 'failed'],
  retrying: ['processing', 'cancelled', 'failed'],
  pending_next_step: ['processing', 'cancelled', 'failed'],
  pending_continuation: ['processing', 'cancelled', 'failed'],
  processing: [
    'waiting_for_children',
    'waiting_for_lanes',
    'retrying',
    'pending',
    'pending_next_step',
    'completed',
    'failed',
    'cancelled',
  ],
  waiting_for_children: ['pending_next_step', 'completed', 'cancelled', 'failed'],
  waiting_for_lanes: ['pending_next_step', 'cancelled', 'failed'],
  waiting_for_prerequisite: ['pending', 'cancelled', 'failed'],
  completed: ['superseded'],
  failed: ['pending', 'waiting_for_children', 'waiting_for_prerequisite'],
  cancelled: ['pending', 'waiting_for_children', 'waiting_for_prerequisite'],
  superseded: [],
} as const satisfies Record<string, readonly string[]>;

export type JobStatus = keyof typeof TRANSITIONS;

/** What a job never leaves by itself. */
const OVER: readonly JobStatus[] = ['completed', 'failed', 'cancelled', 'superseded'];

export const isOver = (status: JobStatus): boolean => OVER.includes(status);

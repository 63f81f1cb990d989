import { type ErrorCodeEntry, entry } from './error-code.ts';

/** The codes that the engine itself stores with a job: most follow from the end of another job. */
export const JOB_ERROR_CODES = {
  child_failed: entry(
    5,
    409,
    false,
    'A job under this one failed, and its step does not go on without it.',
    'Read the error of the job that `details.jobId` names; then `dialectic resume`.',
  ),
  quorum_missed: entry(
    5,
    409,
    false,
    "Fewer jobs of a step succeeded than the step's `dependency_policy` asks for.",
    'Read the errors of the jobs that failed; then `dialectic resume`.',
  ),
  prerequisite_failed: entry(
    5,
    409,
    false,
    'The job that this one waited for did not succeed.',
    'Read the error of the job that `details.jobId` names; then `dialectic resume`.',
  ),
  parent_ended: entry(
    5,
    409,
    false,
    'The job above this one failed or was cancelled before this one started.',
    'Nothing: `dialectic resume` brings it back with the job above it.',
  ),
  session_cancelled: entry(
    5,
    409,
    false,
    'The session was cancelled, and its unfinished jobs with it.',
    'Start a new run; what was saved is kept and can be exported.',
  ),
  takeovers_exhausted: entry(
    1,
    500,
    false,
    'Worker after worker died, or lost its lease, while it ran this job.',
    'Look at the memory and the log of the workers, then `dialectic resume`; `jobs.maxTakeovers`' +
      ' in the configuration sets the limit.',
  ),
} as const satisfies Record<string, ErrorCodeEntry>;

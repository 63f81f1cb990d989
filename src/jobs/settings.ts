import { z } from 'zod';
import { DialecticError } from '../errors/errors.ts';

/** Node ends a timer of 25 days (2^31 ms) or more at once. */
const LONGEST_REST_MS = 20 * 24 * 3_600_000;

/** The section `jobs` of a configuration file, with units and meanings for `dialectic config`. */
export const jobsSection = z.strictObject({
  maxAttempts: z
    .number()
    .int()
    .min(1)
    .max(100)
    .default(5)
    .meta({ unit: 'tries', description: 'of a job before it fails, where the fault may pass' }),
  firstRetryMs: z
    .number()
    .int()
    .positive()
    .max(LONGEST_REST_MS)
    .default(500)
    .meta({ unit: 'milliseconds', description: 'rest after the first failed try; then doubled' }),
  longestRetryMs: z
    .number()
    .int()
    .positive()
    .max(LONGEST_REST_MS)
    .default(60_000)
    .meta({ unit: 'milliseconds', description: 'the longest rest' }),
  maxTakeovers: z
    .number()
    .int()
    .min(1)
    .default(20)
    .meta({ unit: 'takeovers', description: 'of a job in a row from workers that died' }),
});

/** The section `jobs` of a configuration file. */
export type JobsFile = { readonly jobs?: z.input<typeof jobsSection> };

/** How patient a worker is; the section `jobs` of the configuration file. */
export type JobSettings = {
  /** How often a job is tried before it fails, where the job itself does not say. */
  readonly maxAttempts: number;
  /** The rest after the first failed try; each further one is twice as long. */
  readonly firstRetryMs: number;
  /** No rest is longer, unless a provider asks for it. */
  readonly longestRetryMs: number;
  /** How many dead workers in a row a job may have had before it fails. */
  readonly maxTakeovers: number;
};

export const DEFAULT_JOB_SETTINGS: JobSettings = jobsSection.parse({});

/** Reads the section `jobs` of a parsed configuration file; what it leaves out has its default. */
export function readJobSettings(file: unknown): JobSettings {
  const parsed = z.object({ jobs: jobsSection.prefault({}) }).safeParse(file ?? {});
  if (!parsed.success) {
    const problem = z.prettifyError(parsed.error);
    throw new DialecticError('usage_invalid', `The configuration is not valid. ${problem}`);
  }
  return parsed.data.jobs;
}

import { z } from 'zod';
import { DialecticError } from '../errors/errors.ts';
import type { Job } from './types.ts';

/** The payload of a job in the shape that its handler expects: a tenant can write any into its rows. */
export function readPayload<T>(schema: z.ZodType<T>, { id, type, payload }: PayloadOf): T {
  const parsed = schema.safeParse(payload);
  if (parsed.success) return parsed.data;
  throw new DialecticError(
    'job_payload_invalid',
    `The payload of ${type} job ${id} has another shape: ${z.prettifyError(parsed.error)}`,
    { details: { jobId: id } },
  );
}

type PayloadOf = Pick<Job, 'id' | 'type' | 'payload'>;

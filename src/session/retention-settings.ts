import { z } from 'zod';
import { DialecticError } from '../errors/errors.ts';

const section = z.strictObject({ days: z.number().int().min(1).max(36_500) });

/** The section `retention` of a configuration file. */
export type RetentionFile = { readonly retention?: z.input<typeof section> | undefined };

/** For how many days unused projects are kept; null, the default, is for ever. */
export function readRetentionDays(file: unknown): number | null {
  const parsed = z.object({ retention: section.optional() }).safeParse(file ?? {});
  if (!parsed.success) {
    const problem = z.prettifyError(parsed.error);
    throw new DialecticError('usage_invalid', `The configuration is not valid. ${problem}`);
  }
  return parsed.data.retention?.days ?? null;
}

import { z } from 'zod';
import { DialecticError } from '../errors/errors.ts';

/** The section `retention` of a configuration file, with unit and meaning for `dialectic config`. */
export const retentionSection = z.strictObject({
  days: z.number().int().min(1).max(36_500).meta({
    unit: 'days',
    description: 'until `project expire` deletes an unused project; default never',
  }),
});

/** The section `retention` of a configuration file. */
export type RetentionFile = { readonly retention?: z.input<typeof retentionSection> | undefined };

/** For how many days unused projects are kept; null, the default, is for ever. */
export function readRetentionDays(file: unknown): number | null {
  const parsed = z.object({ retention: retentionSection.optional() }).safeParse(file ?? {});
  if (!parsed.success) {
    const problem = z.prettifyError(parsed.error);
    throw new DialecticError('usage_invalid', `The configuration is not valid. ${problem}`);
  }
  return parsed.data.retention?.days ?? null;
}

import { z } from 'zod';
import { DialecticError } from '../errors/errors.ts';

/** The section `spending` of a configuration file, with unit and meaning for `dialectic config`. */
export const spendingSection = z.strictObject({
  // About what a debate of two large models costs: above it a person should have said yes.
  confirmAboveUsd: z.number().min(0).default(5).meta({
    unit: 'dollars',
    description: 'above which a run without a budget has to be confirmed',
  }),
});

/** The section `spending` of a configuration file. */
export type SpendingFile = { readonly spending?: z.input<typeof spendingSection> | undefined };

/** Above how many dollars a run without a budget of its own has to be confirmed. */
export function readConfirmAboveUsd(file: unknown): number {
  const parsed = z.object({ spending: spendingSection.prefault({}) }).safeParse(file ?? {});
  if (!parsed.success) {
    const problem = z.prettifyError(parsed.error);
    throw new DialecticError('usage_invalid', `The configuration is not valid. ${problem}`);
  }
  return parsed.data.spending.confirmAboveUsd;
}

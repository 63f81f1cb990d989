import { type ErrorCodeEntry, entry } from './error-code.ts';

/** Codes of the ledger, the wallet and budgets. */
export const MONEY_ERROR_CODES = {
  idempotency_mismatch: entry(
    5,
    409,
    false,
    'A key that already stands for one movement of money came with another content.',
    'Use a new key for a new movement; repeat an old one exactly.',
  ),
  hold_missing: entry(
    5,
    404,
    false,
    'No money was set aside for this call.',
    'Report it: every call reserves its cost before it leaves.',
  ),
  hold_closed: entry(
    5,
    409,
    true,
    'The money set aside for a call was already posted or given back.',
    'Nothing to do: what was decided first stands.',
  ),
  refund_too_large: entry(
    5,
    409,
    false,
    'A refund would give back more than was paid for the call.',
    'Refund at most what `dialectic wallet report` shows for the call.',
  ),
  ledger_append_only: entry(
    5,
    409,
    false,
    'Something tried to change what was posted, or a balance without an entry.',
    'Correct a posting by another one: a grant or a refund.',
  ),
  ledger_unbalanced: entry(
    1,
    500,
    false,
    'The entries of a posting do not sum to zero; nothing was saved.',
    'Report it with the message.',
  ),
  amount_too_large: entry(
    2,
    400,
    false,
    'An amount of money or tokens lies above 1,000,000,000,000,000: a billion dollars.',
    'Give a smaller amount; `dialectic wallet grant unlimited` takes the limit away.',
  ),
  budget_too_small: entry(
    5,
    409,
    false,
    'A budget of a run lies below what the run has spent already; its caps stay as they were.',
    'Give --budget (or --budget-tokens) more than what is spent: it caps the whole run, not the rest.',
  ),
  spending_unconfirmed: entry(
    2,
    402,
    false,
    'A run would probably cost more than its budget or wallet holds, or than `spending.confirmAboveUsd`.',
    'Confirm with `--yes`, raise `--budget`, or take less: `--depth brief`, `--until`, fewer models.',
  ),
  price_unknown: entry(
    2,
    400,
    false,
    'A budget or a wallet limits dollars, but the price of a model of the run is unknown.',
    'Set its price in your own configuration (that of a folder has to be trusted), or limit tokens ' +
      'instead (`--budget-tokens`).',
  ),
  funds_short: entry(
    5,
    402,
    false,
    'A call outside of a run may cost more than a wallet or a budget has left; it was not made.',
    'Add to the wallet (`dialectic wallet grant`), raise the cap (`dialectic wallet budget`) or the `--budget`, or free what is held.',
  ),
  funds_busy: entry(
    7,
    409,
    true,
    'Calls in flight hold what is left of the money; the call waits for them.',
    'Nothing to do: it goes on when they are through.',
  ),
} as const satisfies Record<string, ErrorCodeEntry>;

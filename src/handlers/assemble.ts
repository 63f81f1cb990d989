import { assembleRequest } from '../generation/assemble-request.ts';
import type { Standing } from '../generation/chain.ts';
import type { ModelRequest } from '../models/types.ts';
import type { CallPurpose } from './begin-call.ts';
import type { Loaded } from './load.ts';

/** What was loaded, with the request that it makes. */
export type Assembled = Loaded & {
  readonly request: ModelRequest;
  readonly purpose: CallPurpose;
};

/** Puts the request of this turn together; every later step uses this one. */
export const assemble = (loaded: Loaded): Assembled => ({
  ...loaded,
  request: assembleRequest(loaded),
  purpose: purposeOf(loaded.standing),
});

function purposeOf({ problems, soFar, only }: Standing): CallPurpose {
  if (problems !== null) return 'repair';
  return soFar.trim() === '' && only.length === 0 ? 'document' : 'continuation';
}

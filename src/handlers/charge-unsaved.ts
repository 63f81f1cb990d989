import type { Database } from '../db/database.ts';
import { DialecticError, toDialecticError } from '../errors/errors.ts';
import { isPassing } from '../jobs/retry-commit.ts';
import type { Job } from '../jobs/types.ts';
import type { Answered } from './call.ts';
import { failCall } from './end-call.ts';
import { keepReceived } from './keep-received.ts';

/**
 * Runs the work that judges and saves an answer. Where that fails the provider's bill is due all the
 * same: the call is charged, and the error says what became of the answer.
 */
export async function chargeUnsaved(
  database: Database,
  job: Job,
  answered: Answered,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    const error = toDialecticError(thrown);
    if (error.code === 'lease_lost') {
      await keepReceived(database, job, answered).catch((cause: Error) => {
        // Still a lost lease for the worker, which must not fail the job by another code.
        const message = `${error.message} What its call had brought is not saved: ${cause.message}`;
        throw new DialecticError('lease_lost', message, { cause, details: error.details });
      });
    } else if (!isPassing(error)) {
      throw await charge(database, job, answered, error);
    }
    throw error;
  }
}

/** Charges an answer that the store refused; the error that results counts as a failed try. */
async function charge(
  database: Database,
  job: Job,
  { callId, model, price, answer }: Answered,
  refusal: DialecticError,
): Promise<DialecticError> {
  const { text, usage, responseId } = answer;
  const message = `${model}: an answer of ${text.length} characters cannot be saved: ${refusal.message}`;
  const details = { model, usage, responseId, refusal: refusal.code };
  const error = new DialecticError('answer_not_saved', message, { cause: refusal, details });
  await failCall(database, job, { callId, error, price, model });
  return error;
}

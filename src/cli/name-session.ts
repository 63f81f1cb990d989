import { DialecticError, toDialecticError } from '../errors/errors.ts';

/** Runs work on a session: whatever error leaves it names the session and what goes on with it. */
export async function namingSession<T>(
  session: string,
  advice: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    const error = toDialecticError(thrown);
    const { code, message, retryable, action, cause = error } = error;
    if (message.includes(session)) throw error;
    const details = { ...error.details, session };
    const told = `${message} Session ${session}. ${advice}`.trimEnd();
    throw new DialecticError(code, told, { cause, retryable, action, details });
  }
}

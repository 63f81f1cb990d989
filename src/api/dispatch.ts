import { DialecticError } from '../errors/errors.ts';
import type { Request, Signals } from '../transport/messages.ts';
import type { Dialectic } from './dialectic.ts';
import { isMethodName, METHODS, type MethodName, splitName } from './methods.ts';

type Answered = Promise<unknown> | AsyncGenerator<unknown, void, void>;
type Methods = Readonly<Record<string, (...args: readonly unknown[]) => Answered>>;

/**
 * Carries out a request from outside of the process: a call gives a promise, a stream a generator.
 * What is no method of the API is refused before anything is touched.
 */
export function dispatch(
  dialectic: Dialectic,
  { method, args }: Pick<Request, 'method' | 'args'>,
  signals: Signals,
): Answered {
  if (!isMethodName(method)) {
    throw new DialecticError('usage_invalid', `The API has no method ${method}.`);
  }
  const { signalAt } = METHODS[method];
  const given = [...args];
  if (signalAt !== null) given[signalAt] = { ...Object(given[signalAt]), ...signals };
  return invoke(dialectic, method, given);
}

/** Calls a method of the API by its name. */
export function invoke(
  dialectic: Dialectic,
  method: MethodName,
  args: readonly unknown[],
): Answered {
  const { group, name } = splitName(method);
  // The table of methods vouches for the name; a method checks its own arguments.
  const owner = (group === null ? dialectic : dialectic[group]) as unknown as Methods;
  return owner[name]!(...args);
}

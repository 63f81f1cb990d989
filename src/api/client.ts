import type { Dialectic } from './dialectic.ts';
import { isMethodName, METHOD_GROUPS, METHODS, type MethodName, splitName } from './methods.ts';

/** A way to the process that holds the store. */
export interface Transport {
  call(method: MethodName, args: readonly unknown[]): Promise<unknown>;
  stream(method: MethodName, args: readonly unknown[]): AsyncGenerator<unknown, void, void>;
  close(): Promise<void>;
}

/** The API over a transport: the same methods with the same types, whichever process answers. */
export function createClient(transport: Transport): Dialectic {
  const close = (): Promise<void> => transport.close();
  const groups = Object.fromEntries(
    METHOD_GROUPS.map((group): [string, Record<string, unknown>] => [group, {}]),
  );
  const client: Record<string | symbol, unknown> = {
    ...groups,
    close,
    [Symbol.asyncDispose]: close,
  };
  for (const method of Object.keys(METHODS).filter(isMethodName)) {
    const carried = (...args: unknown[]): unknown =>
      METHODS[method].kind === 'call'
        ? transport.call(method, args)
        : transport.stream(method, args);
    const { group, name } = splitName(method);
    const owner = group === null ? client : groups[group]!;
    owner[name] = carried;
  }
  // The table of methods is complete by its type, and each of them is carried as it was called.
  return client as unknown as Dialectic;
}

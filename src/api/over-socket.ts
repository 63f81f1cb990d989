import { DialecticError, toDialecticError } from '../errors/errors.ts';
import { VERSION } from '../platform/version.ts';
import type { Greeting } from '../transport/messages.ts';
import { type Connection, converse, openConnection } from '../transport/socket-client.ts';
import { carryArguments } from './carry-arguments.ts';
import type { Transport } from './client.ts';
import type { MethodName } from './methods.ts';

/** The process that answers at an address; undefined where none does. */
export async function meetHolder(address: string): Promise<Greeting | undefined> {
  const connection = await reach(address);
  connection?.socket.destroy();
  return connection?.greeting;
}

/** The way to a store that another process holds, which answers at this address. */
export function overSocket(address: string): Transport {
  async function* ask(method: MethodName, given: readonly unknown[]) {
    const { args, signals } = await carryArguments(method, given);
    const connection = await reach(address);
    if (!connection) throw gone();
    try {
      yield* converse(connection, { method, args }, signals);
    } catch (thrown) {
      throw explainConfiguration(thrown, connection.greeting.pid);
    }
  }
  return {
    call: async (method, args) => {
      for await (const reply of ask(method, args)) if (reply.kind === 'value') return reply.value;
      return undefined;
    },
    stream: async function* stream(method, args) {
      for await (const reply of ask(method, args)) if (reply.kind === 'event') yield reply.event;
    },
    close: async () => {}, // a connection lasts as long as its request
  };
}

/** Two versions may mean different things by the same method, so that no request is sent. */
async function reach(address: string): Promise<Connection | undefined> {
  const connection = await openConnection(address);
  if (!connection || connection.greeting.version === VERSION) return connection;
  connection.socket.destroy();
  const { version, pid } = connection.greeting;
  throw new DialecticError(
    'holder_version_differs',
    `Process ${pid} holds the data directory and is dialectic ${version}; this is ${VERSION}.`,
    { details: { pid, version, own: VERSION } },
  );
}

const gone = (): DialecticError =>
  new DialecticError('holder_ended', 'The process that held the data directory has ended.', {
    details: { outcome: 'not carried out' },
  });

/** The key may well be set here, in the wrong process. */
function explainConfiguration(thrown: unknown, pid: number): unknown {
  const error = toDialecticError(thrown);
  if (error.code !== 'provider_not_configured') return thrown;
  const { code, message, retryable, action, details } = error;
  const why =
    `Process ${pid} holds the data directory and would work on this run, with the keys and the ` +
    'configuration that it was started with.';
  return new DialecticError(code, `${message} ${why}`, {
    retryable,
    action,
    details,
    cause: error,
  });
}

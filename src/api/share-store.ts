import { messageOf } from '../errors/errors.ts';
import { VERSION } from '../platform/version.ts';
import type { Greeting } from '../transport/messages.ts';
import { prepareAddress, removeAddress } from '../transport/socket-address.ts';
import { type Answer, SocketServer } from '../transport/socket-server.ts';
import { type Dialectic, LocalDialectic } from './dialectic.ts';
import { dispatch } from './dispatch.ts';
import type { OpenedStore } from './store.ts';

const FINISHING =
  'Another terminal uses this store: its calls under way finish first, and it goes on by itself.' +
  ' Ctrl-C leaves at once.';

/**
 * Answers for a store on a socket in its data directory, to the owner's other processes, until it is
 * closed. The lock of the directory must be held.
 */
export async function shareStore(
  store: OpenedStore,
  directory: string,
  callsModels: boolean,
): Promise<LocalDialectic> {
  let server: SocketServer | undefined;
  const dialectic = new LocalDialectic(store, async () => {
    if (server && server.busy > 0) store.log(FINISHING);
    await server?.close();
    removeAddress(directory);
  });
  const greeting = { version: VERSION, pid: process.pid, callsModels };
  server = await listen(directory, greeting, dialectic).catch((thrown: unknown) => {
    // The store itself is well, and a single terminal needs no socket.
    store.log(`Other terminals cannot use this store meanwhile: ${messageOf(thrown)}.`);
    return undefined;
  });
  return dialectic;
}

async function listen(directory: string, greeting: Greeting, dialectic: Dialectic) {
  const answer: Answer = (request, signals) => dispatch(dialectic, request, signals);
  try {
    return await SocketServer.listen(prepareAddress(directory), greeting, answer);
  } catch {
    const elsewhere = prepareAddress(directory, { elsewhere: true });
    return await SocketServer.listen(elsewhere, greeting, answer);
  }
}

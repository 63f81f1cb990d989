import { VERSION } from '../platform/version.ts';
import { prepareAddress, removeAddress } from '../transport/socket-address.ts';
import { SocketServer } from '../transport/socket-server.ts';
import { LocalDialectic } from './dialectic.ts';
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
  server = await SocketServer.listen(prepareAddress(directory), greeting, (request, signal) =>
    dispatch(dialectic, request, signal),
  );
  return dialectic;
}

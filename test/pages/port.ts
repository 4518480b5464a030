import { once } from 'node:events';
import { type AddressInfo, createServer, type ListenOptions, type Server } from 'node:net';

/** The port on the pages, which is the default of the daemon. */
export const SHOWN_PORT = 8087;

/** An abstract socket: held by one run of these tests on a machine at a time, and gone with the process. */
const LOCK = { path: '\0shell-adapter-pages' };

/** The port that daemons of the pages listen on. */
export interface PagePort extends AsyncDisposable {
  readonly port: number;
}

/**
 * Gives the port that the pages show while nothing else on this machine uses it, another one otherwise.
 */
export async function takePort(): Promise<PagePort> {
  const lock = await tryListening(LOCK);
  const shown = lock && (await tryListening({ host: '127.0.0.1', port: SHOWN_PORT }));
  const socket = shown ?? (await tryListening({ host: '127.0.0.1', port: 0 }));
  const { port } = socket?.address() as AddressInfo;
  await close(socket);
  return { port, [Symbol.asyncDispose]: () => close(lock) };
}

/** Listens; gives undefined where somebody else does. */
async function tryListening(options: ListenOptions): Promise<Server | undefined> {
  const server = createServer();
  try {
    server.listen(options);
    await once(server, 'listening');
    return server;
  } catch {
    return undefined;
  }
}

async function close(server: Server | undefined): Promise<void> {
  if (!server) return;
  server.close();
  await once(server, 'close');
}

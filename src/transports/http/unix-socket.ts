import { once } from 'node:events';
import { chmodSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';

import { AdapterError } from '../../core/errors.js';

/** Longest path of a socket, in bytes: the capacity of `sun_path` without the NUL (unix(7)). */
const MAX_PATH_BYTES = 107;

/**
 * Listens on a Unix socket that only this user can open. Removes a stale socket of a killed daemon.
 * @throws AdapterError BAD_DIRECTORY when other users can enter its directory; EADDRINUSE when another program listens
 *   on it
 */
export async function listenOnUnixSocket(path: string, onConnection: (connection: Socket) => void): Promise<Server> {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw new AdapterError(
      'BAD_DIRECTORY',
      `socketio.unix_socket: a socket's path has at most ${MAX_PATH_BYTES} bytes: ${path}`,
    );
  }
  preparePrivate(dirname(path));
  const server = createServer({ allowHalfOpen: true }, onConnection);
  try {
    await listen(server, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || (await isAnswered(path))) throw error;
    rmSync(path);
    await listen(server, path);
  }
  chmodSync(path, 0o600);
  return server;
}

async function listen(server: Server, path: string): Promise<void> {
  server.listen(path);
  await once(server, 'listening');
}

/**
 * Creates the directory, or checks that no other user can enter it: between bind and chmod the socket is open to all
 * users.
 */
function preparePrivate(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { uid, mode } = statSync(folder);
  if (uid === process.getuid?.() && (mode & 0o077) === 0) return;
  const message = `socketio.unix_socket: others can enter ${folder}; give the socket a folder of its own with mode 700`;
  throw new AdapterError('BAD_DIRECTORY', message, { details: { directory: folder } });
}

/** True when a process listens on the socket, or the path is not a socket. */
function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code !== 'ECONNREFUSED' || !statSync(path).isSocket());
    });
  });
}

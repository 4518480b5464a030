import type { Server, Socket } from 'node:net';

import { AdapterError } from '../../core/errors.js';
import type { Log } from '../../core/logging/log.js';
import type { Admission } from '../../services/access/admission.js';
import { refuseConnection } from './refused-connection.js';

/** Refused connections that may wait for their peers to read the answer; further ones are closed without one. */
const MAX_LINGERING = 1024;

/** Dependencies of the gate. */
export interface GateOptions {
  readonly admission: Admission;
  /** True when the server speaks TLS: a refused connection is closed without an answer. */
  readonly hasTls: boolean;
  readonly log: Log;
}

/** Lets connections reach an HTTP server, and its parser, only when they are admitted. Has to be called before `listen`. */
export function gateConnections(server: Server, options: GateOptions): void {
  // Node.js documents that a 'connection' event may be emitted by hand: what serves a connection are its listeners.
  const serve = server.listeners('connection') as ((connection: Socket) => void)[];
  server.removeAllListeners('connection');
  let lingering = 0;
  const refuse = (connection: Socket, error: AdapterError) => {
    if (options.hasTls || lingering >= MAX_LINGERING) {
      connection.destroy();
      return;
    }
    lingering += 1;
    connection.once('close', () => {
      lingering -= 1;
    });
    refuseConnection(connection, error);
  };
  server.on('connection', (connection: Socket) => {
    void admit(connection, options, refuse).then((isAdmitted) => {
      if (isAdmitted) for (const listener of serve) listener.call(server, connection);
    });
  });
}

/** Never rejects. */
async function admit(
  connection: Socket,
  { admission, log }: GateOptions,
  refuse: (connection: Socket, error: AdapterError) => void,
): Promise<boolean> {
  // ECONNRESET: without a listener, this error of a connection that nothing serves yet would end the daemon.
  const ignore = () => undefined;
  connection.on('error', ignore);
  try {
    const { release } = await admission.admitConnection(connection, `tcp ${connection.remoteAddress ?? ''}`);
    connection.once('close', release);
    if (connection.destroyed) {
      release();
      return false;
    }
    connection.off('error', ignore);
    return true;
  } catch (error) {
    if (connection.destroyed) return false;
    if (error instanceof AdapterError) refuse(connection, error);
    else {
      log.error('a connection could not be judged', { error: String(error) });
      connection.destroy();
    }
    return false;
  }
}

import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * Connections whose request may take longer than the time-out of the server, because what reads it has one of its own:
 * uploads.
 */
export class PatientRequests {
  readonly #connections = new WeakSet<Duplex>();

  /** Lets the request of a connection take its time, until the returned function is called. */
  begin(connection: Duplex): () => void {
    this.#connections.add(connection);
    return () => {
      this.#connections.delete(connection);
    };
  }

  /** Has a server ask. Node.js reports the time-out of a request once, and the listener decides what becomes of it. */
  attach(server: Server): void {
    const listeners = server.listeners('clientError');
    server.removeAllListeners('clientError');
    server.on('clientError', (error: NodeJS.ErrnoException, connection) => {
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && this.#connections.has(connection)) return;
      for (const listener of listeners) listener.call(server, error, connection);
    });
  }
}

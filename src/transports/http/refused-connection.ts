import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import { AdapterError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import type { Admission } from '../../services/access/admission.js';
import { errorAnswer } from './http-requests.js';

/**
 * Time for the peer to read the answer and close the connection, in milliseconds: closing it before the request was read
 * would make the kernel discard the answer.
 */
const LINGER_MS = 1000;

/** Answers whatever a connection asks with an error, and closes it. Nothing more that comes over it is looked at. */
export function refuseConnection(connection: Duplex, error: AdapterError): void {
  const { status, headers, body } = closingAnswer(error);
  const fields = Object.entries(headers).map((pair) => pair.join(': '));
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...fields];
  const late = setTimeout(() => connection.destroy(), LINGER_MS).unref();
  connection.once('close', () => {
    clearTimeout(late);
  });
  // ECONNRESET: the peer has not waited for the answer.
  connection.on('error', () => undefined);
  connection.resume();
  connection.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** Answers a request with an error, and closes its connection. */
export function refuseRequest(response: ServerResponse, error: AdapterError): void {
  const { status, headers, body } = closingAnswer(error);
  response.writeHead(status, headers).end(body);
}

function closingAnswer(error: AdapterError) {
  const { status, headers, body: reply } = errorAnswer(error.toBody());
  const body = JSON.stringify(reply);
  const framing = { connection: 'close', 'content-length': String(Buffer.byteLength(body)) };
  return { status, headers: { ...framing, 'content-type': 'application/json; charset=utf-8', ...headers }, body };
}

/** Refused connections that may wait for their peers to read the answer; further ones are closed without one. */
const MAX_LINGERING = 1024;

interface GateOptions {
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

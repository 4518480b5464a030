import { ClientError } from '../errors.js';

/** Prefix of an address that is a path. */
const SCHEME = 'unix:';
/** Host name for requests over the socket: the daemon checks `Host` on every transport. */
const ORIGIN = 'http://localhost';

/** Address of a daemon and how to connect to it. */
export interface Endpoint {
  /** The address as given by the caller, for messages. */
  readonly url: string;
  /** The origin that HTTP uses. */
  readonly origin: string;
  /** Path of a Unix socket; undefined for the network. */
  readonly socketPath: string | undefined;
}

/** The endpoint of `unix:/PATH`; undefined for any other address. */
export function unixEndpoint(url: string): Endpoint | undefined {
  const socketPath = url.startsWith(SCHEME) ? url.slice(SCHEME.length) : '';
  return socketPath.startsWith('/') ? { url, origin: ORIGIN, socketPath } : undefined;
}

/**
 * Returns an http.Agent that sends requests over a socket.
 * @throws ClientError CONNECTION_FAILED in a browser, or before Node.js 20.16
 */
export function agentFor(socketPath: string): object {
  // The options are those of net.connect, which the type omits.
  const options: object = { socketPath };
  return new (http().Agent)(options);
}

/** Sends a GET request over a socket; returns status and body. Rejects with the system's error. */
export function getOverSocket(
  socketPath: string,
  path: string,
  timeoutMs: number,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const options = { socketPath, path, agent: false, signal: AbortSignal.timeout(timeoutMs) };
    const request = http().get(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, text });
      });
      response.on('error', reject);
    });
    request.on('error', reject);
  });
}

/** Node's `http` module, without an import that a browser bundle would have to resolve. */
function http() {
  const { process } = globalThis as { readonly process?: Partial<Pick<NodeJS.Process, 'getBuiltinModule'>> };
  const found = process?.getBuiltinModule?.('node:http');
  if (found) return found;
  throw new ClientError('CONNECTION_FAILED', 'a unix: address needs Node.js 20.16 or later');
}

import { ClientError } from '../contract/errors.js';

/** What an address begins with that is a path. */
const SCHEME = 'unix:';
/** The name under which a daemon is called over its socket: it looks at `Host` whatever the way is. */
const ORIGIN = 'http://localhost';

/** Where a daemon is, and how to get there. */
export interface Endpoint {
  /** As it was given, for messages. */
  readonly url: string;
  /** What HTTP takes for the address. */
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
 * What has requests travel over a socket: an http.Agent.
 * @throws ClientError CONNECTION_FAILED in a browser, or before Node.js 20.16
 */
export function agentFor(socketPath: string): object {
  // Its options are those of net.connect, which its type leaves out.
  const options: object = { socketPath };
  return new (http().Agent)(options);
}

/** Asks over a socket; gives status and body. Rejects with the system's error. */
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

/** Node's module, without an import that a browser's bundle would have to resolve. */
function http() {
  const { process } = globalThis as { readonly process?: Partial<Pick<NodeJS.Process, 'getBuiltinModule'>> };
  const found = process?.getBuiltinModule?.('node:http');
  if (found) return found;
  throw new ClientError('CONNECTION_FAILED', 'a unix: address needs Node.js 20.16 or later');
}

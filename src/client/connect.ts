import { AdapterClient } from './adapter-client.js';
import { ClientError } from './errors.js';
import { type ConnectOptions, connectSettings } from './options.js';
import { type Endpoint, unixEndpoint } from './connection/unix-socket.js';

/**
 * Connects to a daemon.
 * @param url address of the daemon, such as `http://127.0.0.1:8087`, or `unix:/PATH` for its socket
 * @throws ClientError CONNECTION_FAILED when there is no daemon, REFUSED when it does not accept this client; the
 * message says how to fix it
 */
export async function connect(url: string, options: ConnectOptions = {}): Promise<AdapterClient> {
  const client = new AdapterClient(unixEndpoint(url) ?? networkEndpoint(url), connectSettings(options));
  await client.open();
  return client;
}

/** Removes the path of an address: Socket.IO would take it for a namespace. */
function networkEndpoint(url: string): Endpoint {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed && /^(?:http|ws)s?:$/.test(parsed.protocol)) {
    return { url: parsed.origin, origin: parsed.origin, socketPath: undefined };
  }
  const message = `${JSON.stringify(url)} is not the address of a daemon: give one like http://127.0.0.1:8087, or unix:/PATH`;
  throw new ClientError('CONNECTION_FAILED', message);
}

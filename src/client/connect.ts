import { AdapterClient } from './adapter-client.js';
import { ClientError } from './errors.js';
import { type ConnectOptions, connectSettings } from './options.js';

/**
 * Connects to a daemon.
 * @param url its address, such as `http://127.0.0.1:8087`
 * @throws ClientError CONNECTION_FAILED when there is no daemon, REFUSED when it does not let this client in; the message
 * says what to do
 */
export async function connect(url: string, options: ConnectOptions = {}): Promise<AdapterClient> {
  const client = new AdapterClient(originOf(url), connectSettings(options));
  await client.open();
  return client;
}

/** The address without a path, which Socket.IO would take for a namespace. */
function originOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed && /^(?:http|ws)s?:$/.test(parsed.protocol)) return parsed.origin;
  const message = `${JSON.stringify(url)} is not the address of a daemon: give one like http://127.0.0.1:8087`;
  throw new ClientError('CONNECTION_FAILED', message);
}

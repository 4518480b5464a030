import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

import { AdapterError } from '../../core/errors.js';
import { parsePreviewUrl } from '../../core/previews/preview-url.js';
import { joinUpgraded, type Upgrading } from '../../services/exchange/join-upgraded.js';
import { type OriginPolicy, refusalOf } from '../access.js';
import { onAccessEnd } from '../connection.js';
import { originOf } from '../http/authentication.js';
import { refuseConnection } from '../http/refused-connection.js';
import { admitPreview, forward, type PreviewOptions } from './forward.js';

/** Longest time for the answer to an upgrade, in milliseconds. A client that goes meanwhile is not noticed. */
const ANSWER_MS = 30_000;

/** Dependencies of upgrades. */
export interface UpgradeOptions extends PreviewOptions {
  /** Undefined where only nodes connect, which have applied their own. */
  readonly originPolicy: OriginPolicy | undefined;
}

/**
 * Passes WebSocket on to ports of sessions. Has to be called after the other listeners for upgrades were added: they get
 * what is not for a port.
 */
export function forwardUpgrades(server: Server, options: UpgradeOptions): void {
  type Listener = (request: IncomingMessage, client: Duplex, head: Buffer) => void;
  const others = server.listeners('upgrade') as Listener[];
  server.removeAllListeners('upgrade');
  server.on('upgrade', (request, client, head) => {
    if (parsePreviewUrl(request.url ?? '')) void serve(options, request, { client, head });
    else for (const listener of others) listener.call(server, request, client, head);
  });
}

/** Never rejects. */
async function serve(options: UpgradeOptions, raw: IncomingMessage, { client, head }: Upgrading): Promise<void> {
  // ECONNRESET: 'close' follows.
  client.on('error', () => undefined);
  const gone = new AbortController();
  const end = () => {
    gone.abort();
  };
  const late = setTimeout(end, ANSWER_MS);
  client.once('close', end);
  try {
    assertWebSocket(raw, options);
    const grant = await admitPreview(raw, options);
    const stop = onAccessEnd(grant, () => {
      client.destroy();
    });
    client.once('close', stop);
    const forwarded = await forward(options, raw, { gone: gone.signal, body: undefined, isUpgrade: true });
    if (!('error' in forwarded)) joinUpgraded(forwarded, { client, head });
    else {
      const { code, message, details } = options.services.secrets.value(forwarded).error;
      throw new AdapterError(code, message, details && { details });
    }
  } catch (error) {
    refuse(client, error, options);
  } finally {
    clearTimeout(late);
  }
}

function assertWebSocket(raw: IncomingMessage, { originPolicy, services: { refusals } }: UpgradeOptions): void {
  const why = originPolicy && refusalOf(raw, originPolicy);
  if (why !== undefined) {
    const error = new AdapterError('FORBIDDEN', why);
    refusals.note(raw.socket.remoteAddress ?? 'unix', originOf(raw.socket), error.toBody());
    throw error;
  }
  if (raw.method === 'GET' && raw.headers.upgrade?.toLowerCase() === 'websocket') return;
  throw new AdapterError('INVALID_REQUEST', 'ports of sessions take upgrades to WebSocket, by GET, and no other');
}

function refuse(client: Duplex, error: unknown, { log }: UpgradeOptions): void {
  if (error instanceof AdapterError) refuseConnection(client, error);
  else {
    log.error('an upgrade failed unexpectedly', { error: String(error) });
    client.destroy();
  }
}

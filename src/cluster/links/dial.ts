import { io, type Socket } from 'socket.io-client';
import type { z } from 'zod';

import {
  challenge as challengeSchema,
  type LinkIdentity,
  LINK_VERSION,
  refusal as refusalSchema,
  welcome as welcomeSchema,
} from '../../core/cluster/link-messages.js';
import { type LinkSecret, randomNonce } from '../../services/access/dashboard-links.js';

/** Time for a connection with its TLS handshake, in milliseconds. */
const CONNECT_TIMEOUT_MS = 2000;
/** Time for both proofs after that, in milliseconds. */
const HELLO_TIMEOUT_MS = 2000;

/** Contents of the files that a node shows other nodes, and trusts, in PEM. */
export interface LinkTls {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** How a worker is dialled. */
export interface DialOptions {
  readonly url: string;
  /** Name that it has to have. */
  readonly node: string;
  /** Who this node is. */
  readonly identity: LinkIdentity;
  readonly secret: LinkSecret;
  /** Undefined for links without TLS. */
  readonly tls: LinkTls | undefined;
  readonly signal: AbortSignal;
}

/** An open link. */
export interface Dialled {
  readonly socket: Socket;
  readonly welcome: z.output<typeof welcomeSchema>;
}

/** Why a worker cannot be connected to. */
export class DialError extends Error {
  /** True when nothing listens on its port: the daemon is not running. */
  readonly isRefused: boolean;

  constructor(message: string, isRefused = false) {
    super(message);
    this.isRefused = isRefused;
  }
}

/**
 * Connects to a worker, and has both ends prove that they know the secret.
 * @throws DialError with the reason
 */
export async function dial(options: DialOptions): Promise<Dialled> {
  const { url, tls, signal } = options;
  const socket = io(url, {
    transports: ['websocket'],
    reconnection: false,
    forceNew: true,
    autoConnect: false,
    timeout: CONNECT_TIMEOUT_MS,
    ...tls,
  });
  const close = () => socket.disconnect();
  signal.addEventListener('abort', close, { once: true });
  try {
    return { socket, welcome: await introduce(socket, options) };
  } catch (error) {
    socket.disconnect();
    throw error;
  } finally {
    signal.removeEventListener('abort', close);
  }
}

/** Answers the challenge of the worker, and examines its welcome. */
async function introduce(socket: Socket, { node, identity, secret, signal }: DialOptions): Promise<Dialled['welcome']> {
  const challenged = awaitChallenge(socket, signal);
  socket.connect();
  const { nonce: dialled, link_version: version } = await challenged;
  if (version !== LINK_VERSION) throw new DialError(`it speaks version ${version} of links, this node ${LINK_VERSION}`);
  const nonces = { dialling: randomNonce(), dialled };
  const proof = secret.prove('dialling', nonces, identity);
  const reply: unknown = await socket
    .timeout(HELLO_TIMEOUT_MS)
    .emitWithAck('hello', { ...identity, nonce: nonces.dialling, proof })
    .catch(() => {
      throw new DialError('it has closed the connection, or has not answered in time');
    });
  const refused = refusalSchema.safeParse(reply);
  if (refused.success) throw new DialError(refused.data.refused);
  const parsed = welcomeSchema.safeParse(reply);
  if (!parsed.success) throw new DialError('its answer is not that of a node');
  const { proof: theirs, ...them } = parsed.data;
  if (!secret.accepts(theirs, 'dialled', nonces, them))
    throw new DialError('it does not know the secret of this cluster');
  if (them.node !== node) throw new DialError(`the node there is called ${them.node}`);
  return parsed.data;
}

function awaitChallenge(socket: Socket, signal: AbortSignal): Promise<z.output<typeof challengeSchema>> {
  return new Promise((resolve, reject) => {
    const fail = (error: DialError) => {
      clearTimeout(timer);
      reject(error);
    };
    const timer = setTimeout(() => {
      fail(new DialError('it has not answered in time'));
    }, CONNECT_TIMEOUT_MS + HELLO_TIMEOUT_MS);
    socket.once('challenge', (message: unknown) => {
      clearTimeout(timer);
      const parsed = challengeSchema.safeParse(message);
      if (parsed.success) resolve(parsed.data);
      else fail(new DialError('it is not a node of a cluster'));
    });
    socket.once('connect_error', (error) => {
      fail(failureOf(error));
    });
    signal.addEventListener('abort', () => {
      fail(new DialError('this node is being stopped'));
    });
    socket.once('disconnect', () => {
      fail(new DialError('it has closed the connection'));
    });
  });
}

/** The error of the system inside of one of Engine.IO, which says no more than that there was one. */
function failureOf(error: Error & { readonly description?: unknown }): DialError {
  const event = error.description as { readonly error?: NodeJS.ErrnoException } | undefined;
  const cause = event?.error;
  return new DialError(cause?.message ?? error.message, cause?.code === 'ECONNREFUSED');
}

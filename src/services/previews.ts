import { networkInterfaces } from 'node:os';

import type { Principal } from '../core/principal.js';
import { AdapterError } from '../core/errors.js';
import { loopbackFor, previewPathOf } from '../core/previews.js';
import type { Answer, Request } from '../core/protocol/requests.js';
import type { Ports } from './listening-ports.js';
import type { SessionRecord } from './registry/session-registry.js';
import type { Sessions } from './sessions/sessions.js';

/** Whether there is `::1`. Containers often have none, and let programs listen on `::` all the same. */
const hasIpv6Loopback = (): boolean =>
  Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === '::1'));

/** Most connections to ports of one session at a time. A browser opens six for a page, and tools that test it some more. */
const MAX_CONNECTIONS = 64;

/** How long the program on a port is not looked for again, in milliseconds: a page takes many requests at once. */
const KNOWN_MS = 1000;

/** A program that listens, and the address at which it is reached. */
type Listener = Pick<Answer<'preview_port'>, 'address' | 'pid' | 'command'>;

/** A look for the program on a port, and when it began on the monotonic clock. */
interface Look {
  readonly listener: Promise<Listener>;
  readonly at: number;
}

/** Permission for one connection to a port of a session. Disposing of it makes room for another one. */
export interface PortConnection extends Disposable {
  readonly address: string;
  readonly port: number;
  /** Aborted with an error for the client when the session ends. */
  readonly ended: AbortSignal;
}

/** Finds out which ports of sessions may be connected to, and bounds the connections. */
export class Previews {
  readonly #sessions: Sessions;
  readonly #ports: Ports;
  readonly #isEnabled: () => boolean;
  /** Number of connections, by the id of the session. */
  readonly #open = new Map<string, number>();
  /** Programs that were found lately, by session and port. */
  readonly #known = new WeakMap<SessionRecord, Map<number, Look>>();

  constructor(sessions: Sessions, ports: Ports, isEnabled: () => boolean) {
    this.#sessions = sessions;
    this.#ports = ports;
    this.#isEnabled = isEnabled;
  }

  /**
   * Says where a port is previewed.
   * @throws AdapterError SESSION_NOT_FOUND, FORBIDDEN, PORT_NOT_FOUND, PORT_UNAVAILABLE
   */
  async describe(
    { session_id: id, port }: Request<'preview_port'>,
    principal: Principal,
  ): Promise<Answer<'preview_port'>> {
    const { address, pid, command } = await this.#listenerOf(this.#recordOf(id, principal), port);
    return { session_id: id, port, path: previewPathOf(id, port), address, pid, command };
  }

  /**
   * Allows a connection, and notes that the session is used.
   * @throws AdapterError as `describe`, and RESOURCE_EXHAUSTED
   */
  async connect({ session_id: id, port }: Request<'preview_port'>, principal: Principal): Promise<PortConnection> {
    const { address } = await this.#listenerOf(this.#recordOf(id, principal), port);
    // It may have ended meanwhile.
    const record = this.#recordOf(id, principal);
    const count = this.#open.get(id) ?? 0;
    if (count >= MAX_CONNECTIONS) throw tooMany(id);
    this.#open.set(id, count + 1);
    this.#sessions.touch(record);
    const ended = new AbortController();
    const forget = this.#sessions.registry.onEnd(id, () => {
      ended.abort(new AdapterError('SESSION_NOT_FOUND', `session ${id} has ended`, { details: { session_id: id } }));
    });
    let isOpen = true;
    const release = () => {
      if (isOpen) this.#release(id);
      isOpen = false;
      forget();
    };
    return { address, port, ended: ended.signal, [Symbol.dispose]: release };
  }

  #recordOf(id: string, principal: Principal): SessionRecord {
    const record = this.#sessions.registry.get(id, principal, 'use');
    if (this.#isEnabled()) return record;
    throw unavailable('previews of ports are off: http.previews: true in the configuration allows them', {
      key: 'http.previews',
    });
  }

  #listenerOf(record: SessionRecord, port: number): Promise<Listener> {
    const known = this.#known.get(record) ?? new Map<number, Look>();
    const last = known.get(port);
    const now = performance.now();
    if (last && now - last.at < KNOWN_MS) return last.listener;
    known.delete(port);
    const listener = findListener(this.#ports, record, port);
    this.#known.set(record, known.set(port, { listener, at: now }));
    // What is not there yet is looked for each time.
    listener.catch(() => known.delete(port));
    return listener;
  }

  #release(id: string): void {
    const left = (this.#open.get(id) ?? 1) - 1;
    if (left > 0) this.#open.set(id, left);
    else this.#open.delete(id);
  }
}

/**
 * Finds the program of a session that listens on a port, and how it is reached. The port must be one of the session: the
 * address is the one on which no other program can listen at the same time.
 * @throws AdapterError PORT_NOT_FOUND, PORT_UNAVAILABLE
 */
async function findListener(ports: Ports, record: SessionRecord, port: number): Promise<Listener> {
  if (await ports.isOwn(port)) throw unavailable(`port ${port} is one of the daemon itself`, { port });
  const found = (await ports.ofSession(record)).filter((each) => each.port === port);
  if (found.length === 0) {
    const message = `no process of session ${record.id} listens on port ${port}`;
    throw new AdapterError('PORT_NOT_FOUND', message, { details: { session_id: record.id, port } });
  }
  const here = found.filter(({ on_machine: isHere }) => isHere);
  if (here.length === 0) {
    const message = `port ${port} is in the own network of the session's sandbox, which the daemon cannot connect to`;
    throw unavailable(message, { port, sandbox: record.sandbox });
  }
  for (const listener of here) {
    const address = loopbackFor(listener.address, hasIpv6Loopback());
    if (address !== undefined) return { ...listener, address };
  }
  const addresses = here.map(({ address }) => address);
  const message = `port ${port} listens on ${addresses.join(', ')} alone: previews need 127.0.0.1, ::1 or all addresses`;
  throw unavailable(message, { port, addresses });
}

const unavailable = (message: string, details: Readonly<Record<string, unknown>>): AdapterError =>
  new AdapterError('PORT_UNAVAILABLE', message, { details });

const tooMany = (id: string): AdapterError =>
  new AdapterError('RESOURCE_EXHAUSTED', `session ${id} has ${MAX_CONNECTIONS} connections to its ports already`, {
    details: { session_id: id, max_connections: MAX_CONNECTIONS },
  });

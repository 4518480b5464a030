import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';

import {
  type Address,
  type AllowList,
  type Destination,
  hostOf,
  isLoopback,
  isUnspecified,
  parseAddress,
  REFUSALS,
  RefusedConnection,
} from '../../core/egress.js';

/** Time for one attempt to connect, in milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000;

/** Returns the addresses of a name. */
type Resolve = (name: string) => Promise<readonly string[]>;

const resolveHere: Resolve = async (name) => (await lookup(name, { all: true })).map(({ address }) => address);

/** Connects to allowed destinations, as the daemon. */
export class Dialer {
  readonly #allowList: AllowList;
  readonly #resolve: Resolve;
  /** Ports of this machine that are never connected to: behind them, connections of the daemon need no token. */
  readonly #ownPorts = new Set<number>();

  /** @param resolve looks names up; by default as the machine does */
  constructor(allowList: AllowList, resolve = resolveHere) {
    this.#allowList = allowList;
    this.#resolve = resolve;
  }

  /** Never connects to this port of the machine. */
  forbidOwnPort(port: number): void {
    this.#ownPorts.add(port);
  }

  /** Whether the list has a destination; its addresses are judged by `connect`. */
  lists(destination: Destination): boolean {
    return this.#allowList.lists(destination);
  }

  /**
   * Connects to the first of the destination's addresses that answers. Names are looked up here and once, so that the
   * address that is judged is the one that is connected to.
   * @throws RefusedConnection by a rule; Error when the destination cannot be found or reached
   */
  async connect(destination: Destination): Promise<Socket> {
    if (!this.lists(destination)) throw new RefusedConnection(REFUSALS.notListed(destination));
    const addresses = await this.#allowedAddresses(destination);
    let failure: Error | undefined;
    for (const address of addresses) {
      try {
        return await open(address, destination.port);
      } catch (error) {
        failure ??= error as Error;
      }
    }
    throw failure ?? new Error(`${destination.host} has no address`);
  }

  async #allowedAddresses(destination: Destination): Promise<readonly string[]> {
    const { host, port } = destination;
    const found = parseAddress(host) ? [host] : await this.#resolve(host);
    const own = ownAddresses();
    const refused: RefusedConnection[] = [];
    const allowed = found.filter((text) => {
      const canonical = hostOf(text) ?? text;
      const address = parseAddress(canonical);
      if (!address) return false;
      const isOwn = isLoopback(address) || isUnspecified(address) || own.has(canonical);
      if (isOwn && this.#ownPorts.has(port)) refused.push(new RefusedConnection(REFUSALS.ownPort(destination)));
      else if (!this.#mayLeadTo(address, destination, isOwn)) {
        refused.push(new RefusedConnection(REFUSALS.notPublic(destination, canonical)));
      } else return true;
      return false;
    });
    if (allowed.length === 0 && refused[0]) throw refused[0];
    return allowed;
  }

  /** Public addresses of this machine are treated as private ones: what listens on them may be meant for it alone. */
  #mayLeadTo(address: Address, destination: Destination, isOwn: boolean): boolean {
    if (isOwn && !isLoopback(address)) return this.#allowList.listsAddress(address, destination.port);
    return this.#allowList.mayLeadTo(address, destination);
  }
}

const ownAddresses = (): ReadonlySet<string> =>
  new Set(Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address)));

/** @throws Error when nothing answers in time */
async function open(host: string, port: number): Promise<Socket> {
  const socket = connect({ host, port, allowHalfOpen: true, noDelay: true });
  const timer = setTimeout(() => {
    socket.destroy(new Error(`${host} did not answer within ${CONNECT_TIMEOUT_MS / 1000} s`));
  }, CONNECT_TIMEOUT_MS);
  try {
    await once(socket, 'connect');
    return socket;
  } finally {
    clearTimeout(timer);
  }
}

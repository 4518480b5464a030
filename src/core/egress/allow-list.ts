import { type Address, type AddressRange, isInRange, isLoopback, isPublic, parseAddress } from './addresses.js';
import { type Destination, hostOf, portOf } from './destination.js';

/** One entry of an allow-list. */
export interface AllowedDestination {
  /** A name; with `isBelow`, every name below it instead. Undefined for addresses. */
  readonly name?: string;
  readonly isBelow?: boolean;
  readonly range?: AddressRange;
  /** Undefined for every port. */
  readonly port: number | undefined;
}

const FORMS =
  'must be HOST or HOST:PORT, where HOST is a name (example.com), all names below one (*.example.com), an address (192.0.2.1, [2001:db8::1]) or a range (10.0.0.0/8)';

/** Names that mean this machine wherever they are looked up (RFC 6761). */
const isLocalName = (name: string): boolean => name === 'localhost' || name.endsWith('.localhost');

/**
 * Parses an entry of an allow-list.
 * @returns the entry, or a sentence that says what would be right
 */
export function parseAllowed(text: string): AllowedDestination | string {
  const { named, prefix, digits } = splitEntry(text);
  const port = digits === undefined ? undefined : portOf(digits);
  if (digits !== undefined && port === undefined) return 'must have a port from 1 to 65535 after the colon';
  const isBelow = named.startsWith('*.');
  const host = hostOf(isBelow ? named.slice(2) : named);
  if (host === undefined || host.includes('*')) return FORMS;
  const address = parseAddress(host);
  if (!address) return prefix === undefined ? { name: host, isBelow, port } : FORMS;
  return isBelow ? FORMS : rangeEntry(address, prefix, port);
}

/** The parts of `NAME/PREFIX:PORT`. An IPv6 address without brackets has no port. */
function splitEntry(text: string) {
  const isBareSix = text.split(':').length > 2 && !text.includes('[');
  const form = isBareSix ? /^([^/]*)(?:\/(\d+))?$/ : /^(\[[^\]]*\]|[^:/]*)(?:\/(\d+))?(?::(.*))?$/;
  // A URL has no port to complain about.
  const [, named = '', prefix, digits] = (text.includes('//') ? undefined : form.exec(text)) ?? [];
  return { named, prefix, digits };
}

function rangeEntry(
  address: Address,
  digits: string | undefined,
  port: number | undefined,
): AllowedDestination | string {
  const prefix = digits === undefined ? address.bits : Number(digits);
  if (prefix > address.bits) return `must have a prefix length from 0 to ${address.bits} after the slash`;
  return { range: { ...address, prefix }, port };
}

/** The destinations that programs in a sandbox can connect to. */
export class AllowList {
  readonly #entries: readonly AllowedDestination[];

  constructor(entries: readonly AllowedDestination[]) {
    this.#entries = entries;
  }

  /** Whether a destination is listed by the name or the address that a program has given. */
  lists({ host, port }: Destination): boolean {
    const address = parseAddress(host);
    if (address) return this.listsAddress(address, port);
    return this.#for(port).some(({ name, isBelow }) => {
      return name !== undefined && (isBelow === true ? host.endsWith(`.${name}`) : host === name);
    });
  }

  /** Whether an address is listed as such, or as part of a range. */
  listsAddress(address: Address, port: number): boolean {
    return this.#for(port).some(({ range }) => range !== undefined && isInRange(address, range));
  }

  /**
   * Whether a listed name may lead to an address: to a public one, to a listed one, and `localhost` to the loopback.
   * Otherwise the name server of a listed name could open the machine's own network.
   */
  mayLeadTo(address: Address, { host, port }: Destination): boolean {
    if (isPublic(address) || this.listsAddress(address, port)) return true;
    return isLocalName(host) && isLoopback(address);
  }

  /** Hosts of the loopback that programs have to reach without a proxy, because they mean the sandbox itself. */
  get ownHosts(): readonly string[] {
    const isListed = (host: string) => {
      const address = parseAddress(host);
      return this.#entries.some(({ name, range }) => (address ? range && isInRange(address, range) : name === host));
    };
    return ['localhost', '127.0.0.1', '::1'].filter((host) => !isListed(host));
  }

  #for(wanted: number): readonly AllowedDestination[] {
    return this.#entries.filter(({ port }) => port === undefined || port === wanted);
  }
}

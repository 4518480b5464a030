/** Where a program wants to connect to. */
export interface Destination {
  /** A name in lower case, in its ASCII form and without a dot at the end, or an IP address in its canonical form. */
  readonly host: string;
  readonly port: number;
}

const MAX_PORT = 65_535;

/** Characters that a URL would not take for a part of the host. */
const FOREIGN = /[\s/\\?#@%[\]]/;

/**
 * Returns the canonical form of a name or an address: `EXAMPLE.com.` is `example.com`, `0x7f.1` is `127.0.0.1`. Undefined
 * when it is neither.
 * @param text an IPv6 address may stand in brackets
 */
export function hostOf(text: string): string | undefined {
  const bare = /^\[[^\]]*\]$/.test(text) ? text.slice(1, -1) : text;
  if (bare === '' || FOREIGN.test(bare)) return undefined;
  try {
    const { hostname } = new URL(`http://${bare.includes(':') ? `[${bare}]` : bare}/`);
    const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
    return host === '' ? undefined : host;
  } catch {
    // TypeError: not a host.
    return undefined;
  }
}

/** Returns the number of a port; undefined when the text is not one. */
export function portOf(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port > 0 && port <= MAX_PORT ? port : undefined;
}

/**
 * Parses `HOST:PORT`.
 * @param fallback the port of a text without one
 */
export function destinationOf(text: string, fallback?: number): Destination | undefined {
  const [, named = '', digits] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(text) ?? [];
  const host = hostOf(named);
  const port = digits === undefined ? fallback : portOf(digits);
  return host === undefined || port === undefined ? undefined : { host, port };
}

/** `HOST:PORT`, with an IPv6 address in brackets. */
export const showDestination = ({ host, port }: Destination): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;

import type { IncomingMessage } from 'node:http';

const LOCAL_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Host of a Host header, without the port. */
const hostName = (header: string): string => header.replace(/:\d+$/, '').toLowerCase();

/**
 * Why a request to the daemon's port is refused, or undefined. A web page must not reach the daemon: browsers send an
 * Origin with every request of a page to another host, and a page that has rebound its own name to this machine sends
 * that name as Host.
 */
export function refusalOf({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  if (headers.origin !== undefined) return `requests of web pages are refused (Origin: ${headers.origin})`;
  const host = hostName(headers.host ?? '');
  const isLoopback = LOCAL_NAMES.has(host) || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
  return isLoopback ? undefined : `the host ${JSON.stringify(headers.host ?? '')} is not this machine`;
}

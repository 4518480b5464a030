import { getOverSocket, unixEndpoint } from '../client/unix-socket.js';

/** How long something at an address may take to say what it is, in milliseconds. */
const PROBE_MS = 1000;

/** Whether a daemon of this kind answers at an address, `unix:/PATH` included. */
export async function probeDaemon(url: string): Promise<boolean> {
  try {
    const socketPath = unixEndpoint(url)?.socketPath;
    const text =
      socketPath === undefined ? await askNetwork(url) : (await getOverSocket(socketPath, '/healthz', PROBE_MS)).text;
    return text.includes('"shell-adapter"');
  } catch {
    // Nobody listens, or it does not speak HTTP, or it is too slow.
    return false;
  }
}

async function askNetwork(url: string): Promise<string> {
  const signal = AbortSignal.timeout(PROBE_MS);
  // An address for WebSockets, which clients take too, is one for HTTP.
  const page = new URL('/healthz', url.replace(/^ws/, 'http'));
  return (await fetch(page, { signal, redirect: 'manual' })).text();
}

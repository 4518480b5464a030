import { getOverSocket, unixEndpoint } from '../../client/connection/unix-socket.js';

/** How long a daemon may take to answer a probe, in milliseconds. */
const PROBE_MS = 1000;

/**
 * Whether a shell-adapter daemon answers at an address; `unix:/PATH` is allowed. Always settles within about a second.
 */
export async function probeDaemon(url: string): Promise<boolean> {
  const abort = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  // A separate timer: `AbortSignal.timeout` does not keep the process alive, and on some connections fetch never
  // settles. The process would then end silently (exit code 13).
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => {
      abort.abort();
      resolve('');
    }, PROBE_MS);
  });
  try {
    const text = await Promise.race([ask(url, abort.signal), late]);
    return text.includes('"shell-adapter"');
  } catch {
    // The port does not listen, or does not speak HTTP.
    return false;
  } finally {
    clearTimeout(timer);
  }
}

async function ask(url: string, signal: AbortSignal): Promise<string> {
  const socketPath = unixEndpoint(url)?.socketPath;
  if (socketPath !== undefined) return (await getOverSocket(socketPath, '/healthz', PROBE_MS)).text;
  // Clients accept WebSocket addresses too: the same port answers HTTP.
  const page = new URL('/healthz', url.replace(/^ws/, 'http'));
  return (await fetch(page, { signal, redirect: 'manual' })).text();
}

import { request } from 'node:http';

/** How long something at an address may take to say what it is, in milliseconds. */
const PROBE_MS = 1000;

/** Whether a daemon of this kind answers at an address, `unix:/PATH` included. */
export async function probeDaemon(url: string): Promise<boolean> {
  try {
    const text = url.startsWith('unix:') ? await askSocket(url.slice('unix:'.length)) : await askNetwork(url);
    return text.includes('"shell-adapter"');
  } catch {
    // Nobody listens, or it does not speak HTTP, or it is too slow.
    return false;
  }
}

async function askNetwork(url: string): Promise<string> {
  const signal = AbortSignal.timeout(PROBE_MS);
  return (await fetch(new URL('/healthz', url), { signal, redirect: 'manual' })).text();
}

function askSocket(socketPath: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(PROBE_MS);
    request({ socketPath, path: '/healthz', agent: false, signal }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => {
        resolve(text);
      });
      response.on('error', reject);
    })
      .on('error', reject)
      .end();
  });
}

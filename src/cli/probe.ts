/** How long something at an address may take to say what it is, in milliseconds. */
const PROBE_MS = 1000;

/** Whether a daemon of this kind answers at an address. */
export async function probeDaemon(url: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(PROBE_MS);
    const response = await fetch(new URL('/healthz', url), { signal, redirect: 'manual' });
    return (await response.text()).includes('"shell-adapter"');
  } catch {
    // Nobody listens, or it does not speak HTTP, or it is too slow.
    return false;
  }
}

import type { AdapterClient, ClientCommand, OutputChunk } from '../../../src/client/index.js';
import type { FlakyProxy } from './flaky-proxy.js';

/** Reconnects without delay worth mentioning. */
export const QUICK = { reconnectDelayMs: 5 };

/** Resolves when the client has lost its connection. */
export const lost = (client: AdapterClient): Promise<void> => reached(client, 'lost');

/** Resolves when the client's connection stands again. */
export const restored = (client: AdapterClient): Promise<void> => reached(client, 'connected');

function reached(client: AdapterClient, wanted: 'lost' | 'connected'): Promise<void> {
  return new Promise((resolve, reject) => {
    const remove = client.onConnection((state, error) => {
      if (state !== wanted && state !== 'closed') return;
      remove();
      if (state === 'closed') reject(error ?? new Error('closed'));
      else resolve();
    });
  });
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Breaks the connection again and again: after a random time, in the middle of what the daemon sends, or while it is
 * being made again.
 * @param bytes how much the daemon may send at most before the connection is broken
 */
export async function breakOften(
  times: number,
  { client, proxy, random, bytes }: { client: AdapterClient; proxy: FlakyProxy; random: () => number; bytes: number },
): Promise<void> {
  for (let i = 0; i < times; i++) {
    const again = restored(client);
    if (random() < 0.5) {
      await pause(random() * 20);
      proxy.cut();
    } else {
      await proxy.cutAfter(1 + Math.floor(random() * bytes));
    }
    if (random() < 0.2) {
      await proxy.connections(proxy.accepted + 1);
      await pause(random() * 5);
      proxy.cut();
    }
    await again;
  }
}

/** Reads a command's output to its end and puts the streams together. Throws where a chunk does not follow the last. */
export async function assemble(command: ClientCommand): Promise<Record<OutputChunk['stream'], string>> {
  const parts = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const sizes = { stdout: 0, stderr: 0 };
  for await (const { stream, offset, data } of command) {
    if (offset !== sizes[stream]) throw new Error(`${stream} went on at ${offset} instead of ${sizes[stream]}`);
    const bytes = Buffer.from(data as string);
    parts[stream].push(bytes);
    sizes[stream] += bytes.length;
  }
  return { stdout: Buffer.concat(parts.stdout).toString(), stderr: Buffer.concat(parts.stderr).toString() };
}

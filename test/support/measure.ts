import { vi } from 'vitest';

import { residentBytes } from './processes.js';
import type { WireClient } from './wire.js';

/** One MiB, in bytes. */
export const MIB = 1024 * 1024;

/** How often a condition that no event tells is looked at. */
const POLL_MS = 10;
/** How long a number must stay the same to count as settled. */
const QUIET_MS = 300;

/** Waits until `check` no longer throws: for facts of the system, such as the end of a process. */
export async function eventually<T>(check: () => T | Promise<T>, timeoutMs = 90_000): Promise<T> {
  return vi.waitFor(check, { timeout: timeoutMs, interval: POLL_MS });
}

/** Waits until a number stays the same for a while, and gives it: what is started ahead of need is then there. */
export async function settled(read: () => number): Promise<number> {
  let last = NaN;
  let since = performance.now();
  await eventually(() => {
    const now = read();
    if (now !== last) since = performance.now();
    last = now;
    if (performance.now() - since < QUIET_MS) throw new Error(`it still changes: ${now}`);
  });
  return last;
}

/** The value below which this share of the samples lies. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/** Milliseconds that `work` takes. */
export async function timed<T>(work: () => Promise<T>): Promise<{ readonly ms: number; readonly value: T }> {
  const start = performance.now();
  const value = await work();
  return { ms: performance.now() - start, value };
}

/** What was seen while something else went on. */
export interface Observation {
  /** Times of `echo` in another session, in milliseconds. */
  readonly echoMs: readonly number[];
  /** How much larger than at the start the daemon was at its largest, in bytes. */
  readonly growth: number;
}

/** Runs `echo` in a session again and again and watches the daemon's memory, until `work` is done. */
export async function observe(
  client: WireClient,
  sessionId: string,
  pid: number,
  work: () => Promise<unknown>,
): Promise<Observation> {
  const before = residentBytes(pid);
  const echoMs: number[] = [];
  let peak = before;
  const state = { isDone: false };
  const working = work().finally(() => {
    state.isDone = true;
  });
  do {
    const { ms, value } = await timed(() => client.run('echo here', sessionId));
    if (value.stdout !== 'here\n') throw new Error(`echo gave ${JSON.stringify(value)}`);
    echoMs.push(ms);
    peak = Math.max(peak, residentBytes(pid));
    // Not a wait for anything: between two samples the machine belongs to what is observed.
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  } while (!state.isDone);
  await working;
  return { echoMs, growth: peak - before };
}

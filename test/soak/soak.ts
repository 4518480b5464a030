import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { eventually, settled } from '../support/measure.js';
import { descriptorCount, processesWith } from '../support/processes.js';
import { seededRandom } from '../support/seeded-random.js';
import { WireClient } from '../support/wire.js';
import { type Census, findLeftovers, type Leftovers, takeCensus } from './census.js';
import { Counts } from './counts.js';
import { disturbDaemon, type DisturbanceOptions, killProcesses, readSlowly } from './disturbances.js';
import { SoakedDaemon } from './soaked-daemon.js';
import { Worker, type WorkerOptions } from './worker.js';

/** How long is worked between two looks, in milliseconds. */
const ROUND_MS = 15_000;
/** Clients that work at the same time. */
const WORKERS = 5;
/** Share of the time in which the daemon itself is killed. What it takes up can be compared only afterwards. */
const KILLING_SHARE = 0.4;
/** Share of the time after which the last daemon has warmed up. */
const WARM_SHARE = 0.6;
/** How long the last work may take to end, in milliseconds. */
const QUIET_MS = 30_000;

/** What a soak has done and found. */
export interface SoakReport {
  readonly minutes: number;
  readonly seed: number;
  /** Why the disk was never full; null where it was. */
  readonly noFullDisk: string | null;
  readonly counts: Counts;
  readonly censuses: readonly Census[];
  /** Looks at the last daemon, from its warm-up on. */
  readonly warm: readonly Census[];
  readonly exit: number | NodeJS.Signals;
  readonly leftovers: Leftovers;
  /** Answers that were wrong or did not come, and what the daemons have printed about failures that nothing has expected. */
  readonly faults: readonly string[];
}

/** Loads a daemon for a time, with a look at it after every round. */
export async function soak(
  minutes: number,
  seed: number,
  onRound: (census: Census, counts: Counts) => void,
): Promise<SoakReport> {
  await using daemon = await SoakedDaemon.start(randomBytes(8).toString('hex'));
  const random = seededRandom(seed);
  const counts = new Counts();
  const [start, wholeMs] = [performance.now(), minutes * 60_000];
  const passed = () => (performance.now() - start) / wholeMs;
  const censuses: Census[] = [];
  const faults: string[] = [];
  while (passed() < 1) {
    const onFault = (message: string) => faults.push(message);
    await workFor(Math.min(ROUND_MS, wholeMs), { daemon, random, counts, onFault }, () => passed() < KILLING_SHARE);
    await becomeQuiet(daemon);
    const census = takeCensus(daemon, passed() * minutes);
    censuses.push(census);
    faults.push(...faultsIn(daemon.output));
    onRound(census, counts);
  }
  const exit = await daemon.stop();
  return {
    minutes,
    seed,
    noFullDisk: daemon.disk ? null : 'this user may not mount a file system of its own: run it as root',
    counts,
    censuses,
    warm: censuses.filter((census) => census.pid === daemon.pid && census.minute >= WARM_SHARE * minutes),
    exit,
    leftovers: await leftoversOf(daemon, daemon.pids),
    faults: [...new Set(faults)],
  };
}

async function workFor(
  ms: number,
  tools: Omit<DisturbanceOptions & WorkerOptions, 'signal' | 'url'>,
  mayKillDaemon: () => boolean,
): Promise<void> {
  const { daemon } = tools;
  const stop = new AbortController();
  const signal = stop.signal;
  const workers = Array.from(
    { length: WORKERS },
    (_, index) => new Worker(`w${index}`, { ...tools, url: () => daemon.url, signal }),
  );
  const timer = setTimeout(() => {
    stop.abort();
  }, ms);
  try {
    await Promise.all([
      ...workers.map((worker) => worker.run()),
      killProcesses({ ...tools, signal }),
      readSlowly({ ...tools, signal }),
      disturbDaemon({ ...tools, signal }, mayKillDaemon),
    ]);
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}

/** Waits until the sessions of clients that have gone are closed, and what a daemon keeps ready is there again. */
async function becomeQuiet(daemon: SoakedDaemon): Promise<void> {
  await using client = await WireClient.connect(daemon.url);
  await eventually(async () => {
    const { sessions, running_commands } = await client.request('daemon_status', {});
    if (sessions > 0 || running_commands > 0)
      throw new Error(`${sessions} sessions and ${running_commands} commands do not end`);
  }, QUIET_MS);
  await settled(() => descriptorCount(daemon.pid));
  await settled(() => processesWith(`SOAK_SHELL=${daemon.mark}\0`).length);
}

/** What is left a moment after the end: a killed process may still be on its way. */
async function leftoversOf(daemon: SoakedDaemon, pids: readonly number[]): Promise<Leftovers> {
  let left = findLeftovers(daemon, pids);
  for (let look = 0; look < 20 && left.processes.length > 0; look += 1) {
    await sleep(100);
    left = findLeftovers(daemon, pids);
  }
  return left;
}

const faultsIn = (output: string): string[] =>
  output.split('\n').filter((line) => /unhandled|uncaught|failed unexpectedly/i.test(line));

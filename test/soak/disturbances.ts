import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { processesWith } from '../support/processes.js';
import { WireClient } from '../support/wire.js';
import { type Counts, KILLS } from './counts.js';
import type { SoakedDaemon } from './soaked-daemon.js';

/** What a disturbance needs. */
export interface DisturbanceOptions {
  readonly daemon: SoakedDaemon;
  readonly random: () => number;
  readonly counts: Counts;
  readonly signal: AbortSignal;
}

/** Shortest and longest pause between two disturbances of a kind, in milliseconds. */
const PAUSE_MS = [300, 2500] as const;
/** How long a disk stays full, in milliseconds. */
const FULL_MS = 2000;
/** Share of the disturbances of the daemon that kill it. */
const DAEMON_SHARE = 0.1;
/** Piece in which a disk is filled, in bytes. */
const PIECE = 1024 * 1024;

/** Kills one process after the other that the daemon has started: shells, and what they run. */
export async function killProcesses({ daemon, random, counts, signal }: DisturbanceOptions): Promise<void> {
  while (await pause(random, signal)) {
    const found = processesWith(`SOAK_SHELL=${daemon.mark}\0`);
    const victim = found[Math.floor(random() * found.length)];
    if (victim && kill(victim.pid)) counts.add(KILLS);
  }
}

function kill(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch (error) {
    // It has ended by itself.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/** Keeps connections whose client has much sent to it and reads nothing. */
export async function readSlowly({ daemon, random, counts, signal }: DisturbanceOptions): Promise<void> {
  while (await pause(random, signal)) {
    try {
      await using client = await WireClient.connect(daemon.url);
      const session = await client.openSession();
      client.socket.emit('execute_command', { command: 'yes | head -c 50000000', session_id: session, stream: true });
      const { engine } = client.socket.io;
      const { ws } = engine.transport as unknown as { ws: { _socket: { pause(): void; resume(): void } } };
      ws._socket.pause();
      counts.add('clients that read nothing');
      await pause(random, signal);
      ws._socket.resume();
    } catch (error) {
      // The daemon is killed from time to time.
      if (!/websocket error|disconnect/i.test(String(error))) throw error;
    }
  }
}

/** Fills the disk of the daemon's state for a while, again and again; kills the daemon at times, never while the disk is full. */
export async function disturbDaemon(
  { daemon, random, counts, signal }: DisturbanceOptions,
  mayKill: () => boolean,
): Promise<void> {
  while (await pause(random, signal)) {
    if (mayKill() && random() < DAEMON_SHARE) {
      await daemon.restart();
      counts.add('times the daemon was killed');
    } else if (daemon.disk) {
      await haveDiskFull(daemon.disk.path, FULL_MS * random());
      counts.add('times the disk was full');
    }
  }
}

async function haveDiskFull(directory: string, ms: number): Promise<void> {
  const file = join(directory, 'filler');
  try {
    for (;;) writeFileSync(file, Buffer.alloc(PIECE), { flag: 'a' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
  await sleep(ms);
  rmSync(file);
}

/** Waits for a random time; false when there is nothing more to do. */
async function pause(random: () => number, signal: AbortSignal): Promise<boolean> {
  const [least, most] = PAUSE_MS;
  await sleep(least + random() * (most - least), undefined, { signal }).catch(() => undefined);
  return !signal.aborted;
}

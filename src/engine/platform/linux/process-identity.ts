import { readlinkSync } from 'node:fs';

import { readProcess } from './process-table.js';
import { readSmallFile } from '../../system/small-file.js';

/**
 * Identifies a process across machines, containers, reboots and reused pids: boot id, PID namespace and start time.
 * @returns undefined if there is no such process, or `/proc` does not show it to this user
 */
export function processIdentity(pid: number): string | undefined {
  const boot = readSmallFile('/proc/sys/kernel/random/boot_id')?.trim();
  const entry = readProcess(pid);
  if (boot === undefined || entry === undefined || entry.state === 'Z' || entry.state === 'X') return undefined;
  try {
    return `${boot}/${readlinkSync(`/proc/${pid}/ns/pid`)}/${entry.startTicks}`;
  } catch {
    // The process has ended, or belongs to another user.
    return undefined;
  }
}

import { readdirSync, readlinkSync, statSync } from 'node:fs';

import { followLinks } from '../../system/follow-links.js';
import { readProc } from './process-table.js';

/** Returns the target of a file descriptor; undefined when the process has no such descriptor. */
export function descriptorTarget(pid: number, fd: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`);
  } catch {
    // ENOENT: closed, or the process has ended.
    return undefined;
  }
}

/**
 * Returns the file from which a process is blocked in read(2); undefined when it is not, or the kernel does not report
 * it.
 */
export function fileBeingRead(pid: number): string | undefined {
  const [number, descriptor] = readProc(pid, 'syscall')?.split(' ') ?? [];
  if (number !== READ_SYSCALL[process.arch] || descriptor === undefined) return undefined;
  return descriptorTarget(pid, Number(descriptor))?.replace(/ \(deleted\)$/, '');
}

/**
 * Maps a path as a process sees it to a path that the daemon can open: proc(5), root. Absolute links are followed in the
 * root directory of the process: the kernel would follow them in that of the daemon.
 * @returns empty if the path leads through too many links
 */
export function pathInside(pid: number, path: string): string {
  const root = `/proc/${pid}/root`;
  const real = followLinks(path, [], root);
  return real === undefined ? '' : `${root}${real}`;
}

/** Whether any descriptor of a process refers to this path. */
export function holdsDescriptorOf(pid: number, path: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => descriptorTarget(pid, Number(fd)) === path);
  } catch {
    // The process has ended.
    return false;
  }
}

/** Numbers of wait4(2), waitid(2) and rt_sigsuspend(2), by architecture. */
const WAIT_SYSCALLS: Partial<Record<NodeJS.Architecture, readonly string[]>> = {
  x64: ['61', '247', '130'],
  arm64: ['260', '95', '133'],
};

/**
 * Whether a process waits for a child or a signal, or was stopped while it did; true where the kernel does not tell.
 */
export function isWaiting(pid: number): boolean {
  const [number] = readProc(pid, 'syscall')?.split(' ') ?? [];
  return number === undefined || WAIT_SYSCALLS[process.arch]?.includes(number) !== false;
}

/** Numbers of read(2), by architecture. */
const READ_SYSCALL: Partial<Record<NodeJS.Architecture, string>> = { x64: '0', arm64: '63' };

/** Major number of memory devices such as /dev/null (linux/major.h). */
const MEMORY_DEVICES = 1;

/** Whether standard input of a process is a terminal; true where that cannot be determined. */
export function hasTerminalInput(pid: number): boolean {
  try {
    const input = statSync(`/proc/${pid}/fd/0`);
    return input.isCharacterDevice() && ((input.rdev >> 8) & 0xfff) !== MEMORY_DEVICES;
  } catch (error) {
    // ENOENT: standard input is closed, or the process has ended. EACCES: it belongs to another user.
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

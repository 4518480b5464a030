import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/** Milliseconds of one clock tick in /proc (USER_HZ is 100 on every Linux in use). */
const TICK_MS = 10;

/** A process of a daemon, from /proc. */
export interface FoundProcess {
  readonly pid: number;
  readonly command: string;
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    // It has ended.
    return '';
  }
}

const allPids = (): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid));

/** The fields of /proc/PID/stat that follow the name: state, parent, … (proc(5)). */
function statFields(pid: number): string[] {
  const stat = readProc(pid, 'stat');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** Whether a process runs: neither gone nor a zombie. */
export function isRunning(pid: number): boolean {
  const [state = ''] = statFields(pid);
  return state !== '' && state !== 'Z' && state !== 'X';
}

/** How many descriptors a process has open. */
export const descriptorCount = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

/** The largest descriptor that a process has open. */
export const highestDescriptor = (pid: number): number => Math.max(...readdirSync(`/proc/${pid}/fd`).map(Number));

/** Memory that a process holds in RAM, in bytes. */
export function residentBytes(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readProc(pid, 'status')) ?? [];
  if (kilobytes === undefined) throw new Error(`process ${pid} has ended`);
  return Number(kilobytes) * 1024;
}

/** CPU time that a process has used, in milliseconds. */
export function cpuMs(pid: number): number {
  const fields = statFields(pid);
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** Children of a process that have ended and were not waited for. */
export function zombiesOf(pid: number): number[] {
  return allPids().filter((child) => {
    const [state, parent] = statFields(child);
    return state === 'Z' && Number(parent) === pid;
  });
}

/** Every running process that carries a daemon's tag, whatever its parent. */
export function taggedProcesses(instance: string): FoundProcess[] {
  return allPids()
    .filter((pid) => readProc(pid, 'environ').includes(`SHELL_ADAPTER_TAG=${instance}.`) && isRunning(pid))
    .map((pid) => ({ pid, command: readProc(pid, 'cmdline').replaceAll('\0', ' ').trim() }));
}

/** Directories in which daemons of this user keep their FIFOs. */
export function runtimeParents(): string[] {
  const { uid } = userInfo();
  return [`/run/user/${uid}`, '/dev/shm', tmpdir()].map((base) => join(base, `shell-adapter-${uid}`));
}

/** The runtime directories that belong to the daemon with this process id. */
export function runtimeDirectoriesOf(pid: number): string[] {
  return runtimeParents().flatMap((parent) => {
    try {
      return readdirSync(parent)
        .filter((name) => name.startsWith(`${pid}-`))
        .map((name) => join(parent, name));
    } catch {
      // No daemon has used this parent.
      return [];
    }
  });
}

/** Name of the run of a daemon: what the tags of its processes begin with. */
export function instanceOf(pid: number): string {
  const [directory] = runtimeDirectoriesOf(pid);
  if (directory === undefined) throw new Error(`daemon ${pid} has no runtime directory`);
  return directory.slice(directory.lastIndexOf('/') + 1);
}

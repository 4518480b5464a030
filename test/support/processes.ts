import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
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

/** Whether a process has been stopped by a signal, which takes a moment. */
export const isStopped = (pid: number): boolean => statFields(pid)[0] === 'T';

/** How many descriptors a process has open. */
export const descriptorCount = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

/** What the descriptors of a process refer to. */
export const descriptorTargets = (pid: number): string[] =>
  readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      // Closed meanwhile.
      return [];
    }
  });

/** The largest descriptor that a process has open. */
export const highestDescriptor = (pid: number): number => Math.max(...readdirSync(`/proc/${pid}/fd`).map(Number));

/** Makes every open(2) of a running process fail with EMFILE, until its limit is raised again: only 0 to 2 are below it. */
export function useUpDescriptors(pid: number): void {
  execFileSync('prlimit', ['--pid', String(pid), '--nofile=3:']);
}

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

/** How often the main thread of a process has slept and been woken. */
export const wakeUpsOf = (pid: number): number =>
  Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(readProc(pid, 'status'))?.[1]);

/** Children of a process that have ended and were not waited for. */
export function zombiesOf(pid: number): number[] {
  return allPids().filter((child) => {
    const [state, parent] = statFields(child);
    return state === 'Z' && Number(parent) === pid;
  });
}

/** Every running process that descends from one, with no order. */
export function descendantsOf(ancestor: number): FoundProcess[] {
  const parents = new Map(allPids().map((pid) => [pid, Number(statFields(pid)[1])]));
  const found = new Set([ancestor]);
  // What is added while it is gone through is gone through too.
  for (const pid of found) for (const [child, parent] of parents) if (parent === pid) found.add(child);
  found.delete(ancestor);
  return [...found].filter(isRunning).map((pid) => ({ pid, command: commandOf(pid) }));
}

const commandOf = (pid: number): string => readProc(pid, 'cmdline').replaceAll('\0', ' ').trim();

/** Every running process that carries a daemon's tag, whatever its parent. */
export const taggedProcesses = (instance: string): FoundProcess[] => processesWith(`SHELL_ADAPTER_TAG=${instance}.`);

/** Every running process whose environment contains a text; in /proc a NUL follows each variable. */
export const processesWith = (text: string): FoundProcess[] =>
  allPids()
    .filter((pid) => readProc(pid, 'environ').includes(text) && isRunning(pid))
    .map((pid) => ({ pid, command: commandOf(pid) }));

/** Directories in which daemons of a user, this one by default, keep their FIFOs. */
export function runtimeParents({ uid }: { readonly uid: number } = userInfo()): string[] {
  return [`/run/user/${uid}`, '/dev/shm', tmpdir()].map((base) => join(base, `shell-adapter-${uid}`));
}

/** The runtime directories that belong to the daemon with this process id. */
export function runtimeDirectoriesOf(pid: number): string[] {
  // Of one that has ended nobody knows any more whose it was.
  const owner = statSync(`/proc/${pid}`, { throwIfNoEntry: false }) ?? userInfo();
  return runtimeParents(owner).flatMap((parent) => {
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

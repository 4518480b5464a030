import { randomBytes } from 'node:crypto';
import { accessSync, constants, existsSync, mkdtempSync, rmdirSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { makeFifos } from '../engine/system/fifo.js';
import type { Platform } from '../engine/platform/platform.js';
import { makeRuntimeDirectory } from '../engine/instance/runtime-directory.js';
import { removeTreeSync } from '../engine/system/local-files.js';

/** How long a terminal may take to start before it counts as broken, in milliseconds. */
const PTY_TIMEOUT_MS = 5000;
/** `f_type` of a tmpfs, statfs(2). */
const TMPFS_MAGIC = 0x01021994;

/**
 * Opens a pseudo-terminal with a shell on it; returns its device. node-pty is loaded here and not before, so that a
 * broken installation of it is a finding and not a crash.
 */
export async function openTerminal(): Promise<string> {
  const { spawn } = await import('node-pty');
  // The shell waits for a line, because output that a program prints just before its exit may be lost.
  const pty = spawn('/bin/sh', ['-c', 'tty; read _'], { env: { PATH: '/usr/bin:/bin' } });
  const exited = new Promise<void>((resolve) => {
    pty.onExit(() => {
      resolve();
    });
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      timer = setTimeout(reject, PTY_TIMEOUT_MS, new Error('the shell on it did not answer'));
      let output = '';
      pty.onData((data) => {
        output += data;
        const [line] = output.split(/\r?\n/);
        if (!output.includes('\n') || line === undefined) return;
        if (line.startsWith('/dev/')) resolve(line);
        else reject(new Error(`the shell on it says: ${line}`));
      });
    });
  } finally {
    clearTimeout(timer);
    pty.write('\n');
    await exited;
  }
}

/** Creates a FIFO where the daemon would; returns the directory, and whether it is in memory. */
export async function tryFifos(
  platform: Platform,
): Promise<{ readonly directory: string; readonly isInMemory: boolean }> {
  const runtime = makeRuntimeDirectory(platform);
  try {
    await makeFifos([join(runtime.path, randomBytes(4).toString('hex'))]);
    return { directory: dirname(runtime.path), isInMemory: statfsSync(runtime.path).type === TMPFS_MAGIC };
  } finally {
    removeTreeSync(runtime.path);
  }
}

/** Checks /proc: whether processes are visible, and whether it shows that a process waits for input. */
export function inspectProc({ processes }: Platform): { readonly hasProcesses: boolean; readonly hasWaits: boolean } {
  const hasProcesses = processes.read(process.pid) !== undefined;
  const hasWaits = ['children', 'syscall', 'wchan'].map((file) => isReadable(`/proc/self/task/${process.pid}/${file}`));
  return { hasProcesses, hasWaits: hasWaits[0] === true && hasWaits.slice(1).includes(true) };
}

/** Number of file descriptors that this process may open. Node.js has raised it to the hard limit. */
export function descriptorLimit(): number {
  const { userLimits } = process.report.getReport() as unknown as Report;
  const { soft } = userLimits.open_files;
  return soft === 'unlimited' ? Infinity : soft;
}

/** The part of a diagnostic report that is used. Source: https://nodejs.org/api/report.html. */
interface Report {
  readonly userLimits: { readonly open_files: { readonly soft: number | 'unlimited' } };
}

/** Whether files can be created in a directory, which is created first if it does not exist. */
export function canWriteBelow(directory: string): boolean {
  let existing = directory;
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  try {
    // access(2) is not enough: root may write everywhere, but no user can create files in /proc.
    rmdirSync(mkdtempSync(join(existing, '.shell-adapter-')));
    return true;
  } catch {
    // EACCES, EROFS, ENOENT, ENOTDIR or ENOSPC: the daemon would get the same error.
    return false;
  }
}

const isReadable = (path: string): boolean => isAccessible(path, constants.R_OK);

function isAccessible(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    // Missing, or not accessible.
    return false;
  }
}

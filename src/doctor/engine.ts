import { randomBytes } from 'node:crypto';
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, rmdirSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { makeFifos } from '../engine/system/fifo.js';
import { readProcess } from '../engine/process/process-table.js';
import { makeRuntimeDirectory, removeRuntimeDirectory } from '../engine/instance/runtime-directory.js';

/** How long a terminal may take to come up before it counts as broken, in milliseconds. */
const PTY_TIMEOUT_MS = 5000;
/** `f_type` of a tmpfs, statfs(2). */
const TMPFS_MAGIC = 0x01021994;

/**
 * Opens a pseudo-terminal with a shell on it; gives its device. node-pty is loaded here and not before, so that a broken
 * installation of it is a finding and not a crash.
 */
export async function openTerminal(): Promise<string> {
  const { spawn } = await import('node-pty');
  // It waits for a line, because what a program prints just before its exit may be lost.
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

/** Where the daemon's FIFOs would be, and whether that is in memory. Makes one there. */
export async function tryFifos(): Promise<{ readonly directory: string; readonly isInMemory: boolean }> {
  const runtime = makeRuntimeDirectory();
  try {
    await makeFifos([join(runtime.path, randomBytes(4).toString('hex'))]);
    return { directory: dirname(runtime.path), isInMemory: statfsSync(runtime.path).type === TMPFS_MAGIC };
  } finally {
    removeRuntimeDirectory(runtime.path);
  }
}

/** What of /proc is there: whether processes can be seen, and whether it can be seen that one waits for input. */
export function inspectProc(): { readonly hasProcesses: boolean; readonly hasWaits: boolean } {
  const hasProcesses = readProcess(process.pid) !== undefined;
  const hasWaits = ['children', 'syscall', 'wchan'].map((file) => isReadable(`/proc/self/task/${process.pid}/${file}`));
  return { hasProcesses, hasWaits: hasWaits[0] === true && hasWaits.slice(1).includes(true) };
}

/** Descriptors that this process may have open. Node.js has raised it as far as it goes. Undefined when it is not told. */
export function descriptorLimit(): number | undefined {
  const soft = /^Max open files\s+(\S+)/m.exec(readText('/proc/self/limits'))?.[1];
  return soft === undefined ? undefined : soft === 'unlimited' ? Infinity : Number(soft);
}

/** Whether files can be made in a directory, which may have to be made first. */
export function canWriteBelow(directory: string): boolean {
  let existing = directory;
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  try {
    // Asking access(2) is not enough: root may write everywhere, but nobody to /proc.
    rmdirSync(mkdtempSync(join(existing, '.shell-adapter-')));
    return true;
  } catch {
    // EACCES, EROFS, ENOENT, ENOTDIR, ENOSPC: whatever it is, the daemon would meet it too.
    return false;
  }
}

const isReadable = (path: string): boolean => isAccessible(path, constants.R_OK);

function isAccessible(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    // Not there, or not for us.
    return false;
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Not Linux, or hidden.
    return '';
  }
}

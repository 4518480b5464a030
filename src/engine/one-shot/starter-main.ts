import { spawn } from 'node:child_process';
import { closeSync, constants, openSync, writeFileSync } from 'node:fs';

import { closeInheritedTerminals } from '../process/find-processes.js';
import { sendSignal } from '../system/signals.js';
import { LineReader, type StarterReport, type StartMessage } from './start-message.js';

/*
 * The starter: a small process that starts one-shot processes for the daemon. fork(2) copies the page tables of its
 * caller and blocks it meanwhile: in the daemon that would be milliseconds, for every command and for all clients.
 * It reads StartMessages on stdin and writes StarterReports on stdout. It exits at EOF on stdin: with the daemon.
 */

const running = new Set<number>();

closeInheritedTerminals();

const report = (message: StarterReport) => process.stdout.write(`${JSON.stringify(message)}\n`);

function open(message: StartMessage): (number | 'ignore')[] {
  const fds: (number | 'ignore')[] = [];
  // Without a reader there the daemon has ended, and a blocking open would never return. The probe is closed once there
  // is another writer: otherwise the daemon would read EOF.
  const probe = openSync(message.stdout, constants.O_WRONLY | constants.O_NONBLOCK);
  try {
    fds.push(message.stdin === null ? 'ignore' : openStdin(message.stdin));
    fds.push(openSync(message.stdout, constants.O_WRONLY), openSync(message.stderr, constants.O_WRONLY));
    if (message.request !== null) fds.push(openSync(message.request, constants.O_RDONLY));
    return fds;
  } catch (error) {
    close(fds);
    throw error;
  } finally {
    closeSync(probe);
  }
}

/** Opens the read end of a FIFO, or a file, without waiting for a writer: the daemon may have closed it meanwhile. */
function openStdin(path: string): number {
  // Opening both ends never blocks (fifo(7), Linux), and the next open(2) finds a writer.
  const both = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  try {
    return openSync(path, constants.O_RDONLY);
  } finally {
    closeSync(both);
  }
}

function close(fds: readonly (number | 'ignore')[]): void {
  for (const fd of fds) if (fd !== 'ignore') closeSync(fd);
}

function fail(id: number, error: unknown): void {
  const { code = 'UNKNOWN', message } = error as NodeJS.ErrnoException;
  report({ id, kind: 'failed', code, message });
}

/** Moves this process into control groups temporarily: children belong to them from their first instruction. */
function within<T>({ joinFiles, leaveFiles }: StartMessage, action: () => T): T {
  try {
    for (const file of joinFiles) writeFileSync(file, '0');
    return action();
  } finally {
    for (const file of leaveFiles) writeFileSync(file, '0');
  }
}

function start(message: StartMessage): void {
  const { id, file, args, cwd, env } = message;
  let fds: (number | 'ignore')[] = [];
  try {
    fds = open(message);
    const child = within(message, () => spawn(file, args, { cwd, env, detached: true, stdio: fds }));
    child.on('error', (error) => {
      fail(id, error);
    });
    const { pid } = child;
    if (pid === undefined) return;
    running.add(pid);
    report({ id, kind: 'started', pid });
    child.on('exit', (exitCode, signal) => {
      running.delete(pid);
      report(signal ? { id, kind: 'signalled', signal } : { id, kind: 'exited', exitCode: exitCode ?? 0 });
    });
  } catch (error) {
    fail(id, error);
  } finally {
    close(fds);
  }
}

const lines = new LineReader((line) => {
  start(JSON.parse(line) as StartMessage);
});
process.stdin.setEncoding('utf8').on('data', (text: string) => {
  lines.push(text);
});
process.stdin.on('end', () => {
  // The daemon has ended, perhaps by SIGKILL: its processes are ended too.
  for (const pid of running) sendSignal(-pid, 'SIGKILL');
  process.exitCode = 0;
});
// Ctrl-C in the daemon's terminal reaches this process too; the daemon decides how to react.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.stdout.on('error', () => {
  // EPIPE: the daemon has ended; EOF on stdin reports the same.
});

import { chownSync, closeSync, constants, openSync, readSync, writeSync } from 'node:fs';

import { spawn, type IPty } from 'node-pty';

import { AdapterError } from '../../core/errors.js';
import { tasksLeft } from '../platform/linux/own-group.js';
import { sharedReadBuffer } from '../system/fifo.js';
import type { FileOwner } from '../system/own-user.js';

/** Size of one write to a terminal: more may not fit the line discipline's buffer. */
const WRITE_BYTES = 4096;
/** Most input that is queued for a program that does not read. */
const MAX_PENDING_BYTES = 1024 * 1024;
/** Delay before a write is retried after EAGAIN, in milliseconds. */
const RETRY_MS = 10;

/** Tasks of a terminal: its program, and a thread in which node-pty waits for the program's end. */
const TASKS = 2;

/** Group id with which chown(2) changes nothing. */
const SAME_GROUP = -1;

const END_OF_FILE = '\x04';
const KILL_LINE = '\x15';

/** The program of a terminal. */
export interface TerminalProgram {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cols: number;
  readonly rows: number;
  /** Becomes the owner of the terminal. The program changes to this user on its own. */
  readonly owner?: FileOwner | undefined;
}

/** Exit of a terminal's program. */
export interface TerminalExit {
  readonly exitCode: number;
  /** Signal number, 0 for none. */
  readonly signal: number;
}

/** The parts of node-pty's object that its types leave out. */
interface PtyInternals {
  readonly fd: number;
  readonly _socket: { readonly destroyed: boolean };
  readonly _pty: string;
  /** Becomes true when the program has ended; the exit is emitted only after the end of the output, or 200 ms. */
  _boundClose: boolean;
  destroy(): void;
}

/**
 * A program on a pseudo-terminal. Of node-pty only spawning, reading and resizing are used: its input queue outlives
 * the terminal and would be written to the next file with the same descriptor number, and its signals may hit a process
 * id that has been reused. Therefore input goes through a bounded queue here, and nothing is written after the exit.
 */
export class Terminal {
  readonly pid: number;
  readonly #pty: IPty & PtyInternals;
  readonly #pending: Buffer[] = [];
  #pendingBytes = 0;
  #retry: NodeJS.Timeout | undefined;
  #hasExited = false;
  #hasUnreadInput = false;
  #endsOpenLine = false;
  /** The terminal's other side. Held open while commands run: see `holdOpen`. */
  #slave: number | undefined;
  #keepsLastOutput = false;

  constructor(program: TerminalProgram, onData: (chunk: Buffer) => void, onExit: (exit: TerminalExit) => void) {
    const { file, args, cols, rows, cwd, env, owner } = program;
    // If the thread cannot be created, node-pty aborts the daemon.
    const left = tasksLeft();
    if (left < TASKS) {
      const message = `no terminal could be opened: it takes ${TASKS} processes or threads, and ${left} are left`;
      throw new AdapterError('RESOURCE_EXHAUSTED', message);
    }
    try {
      this.#pty = spawn(file, [...args], { cols, rows, cwd, env, encoding: null }) as IPty & PtyInternals;
    } catch (error) {
      throw new AdapterError('RESOURCE_EXHAUSTED', `no terminal could be opened: ${(error as Error).message}`, {
        cause: error,
      });
    }
    this.pid = this.#pty.pid;
    // The group stays that of terminals (pts(4)).
    if (owner) chownSync(this.#pty._pty, owner.uid, SAME_GROUP);
    this.#watchEnd();
    this.#pty.onData((data) => {
      // With `encoding: null` node-pty delivers Buffers, contrary to its types.
      onData(data as unknown as Buffer);
    });
    this.#pty.onExit(({ exitCode, signal }) => {
      this.#end();
      onExit({ exitCode, signal: signal ?? 0 });
    });
  }

  /** Path of the terminal as its program sees it. */
  get slavePath(): string {
    return this.#pty._pty;
  }

  /** Whether the program has ended or the terminal was closed. */
  get hasExited(): boolean {
    return this.#hasExited;
  }

  /**
   * Queues input for the program.
   * @throws AdapterError INPUT_FULL when more than 1 MiB would be queued; nothing is accepted then.
   */
  write(data: string): number {
    const bytes = Buffer.from(data);
    if (this.#pendingBytes + bytes.length > MAX_PENDING_BYTES) {
      throw new AdapterError('INPUT_FULL', 'the program does not read its input, and 1 MiB of it waits already', {
        details: { pending_bytes: this.#pendingBytes, max_bytes: MAX_PENDING_BYTES },
      });
    }
    if (bytes.length === 0 || this.#hasExited) return 0;
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    this.#hasUnreadInput = true;
    this.#endsOpenLine = !data.endsWith('\n') && !data.endsWith(END_OF_FILE);
    this.#flush();
    return bytes.length;
  }

  /** Writes the end-of-file character: twice inside a line, where the first one only flushes the line. */
  writeEndOfFile(): void {
    this.write(this.#endsOpenLine ? END_OF_FILE + END_OF_FILE : END_OF_FILE);
  }

  /** Discards unread input, so that it does not reach the next command. */
  discardInput(): void {
    if (!this.#hasUnreadInput || this.#hasExited) return;
    this.#hasUnreadInput = false;
    this.#endsOpenLine = false;
    this.#dropPending();
    // After the end, the descriptor's number may have been reused.
    if (this.#pty._socket.destroyed) return;
    try {
      writeSync(this.#pty.fd, KILL_LINE);
      this.#openSlave();
      while (readSync(this.#slave ?? -1, sharedReadBuffer, 0, sharedReadBuffer.length, null) > 0);
    } catch {
      // EAGAIN: everything has been read. Any other error is the terminal's end, which onExit reports.
    }
  }

  /**
   * Holds the terminal's slave side open until the program ends. Without, node-pty closes the terminal as soon as no process
   * has it open: a program that replaces the shell with its streams redirected would get SIGHUP.
   * @param keepsLastOutput holds it even longer, so that the last output of a program that exits is not lost. This delays the
   * exit event by node-pty's 200 ms.
   * @throws the system's error when it cannot be held for the last output; other commands run all the same
   */
  holdOpen(keepsLastOutput: boolean): void {
    this.#keepsLastOutput = keepsLastOutput;
    if (this.#hasExited) return;
    try {
      this.#openSlave();
    } catch (error) {
      // EMFILE: only a program that replaces the shell needs it.
      if (keepsLastOutput) throw error;
    }
  }

  /** Pauses or resumes reading; a paused program blocks when the terminal's buffer is full. */
  setPaused(isPaused: boolean): void {
    if (this.#hasExited) return;
    if (isPaused) this.#pty.pause();
    else this.#pty.resume();
  }

  /** Sets the size, in characters. */
  resize(cols: number, rows: number): void {
    if (this.#hasExited || this.#pty._socket.destroyed) return;
    this.#pty.resize(cols, rows);
  }

  /** Closes the terminal: the kernel sends SIGHUP to its session. */
  close(): void {
    if (this.#hasExited) return;
    this.#end();
    this.#pty.destroy();
  }

  /** Lets go of the slave side when the program has ended: node-pty waits until nothing has it open. */
  #watchEnd(): void {
    let hasEnded = false;
    Object.defineProperty(this.#pty, '_boundClose', {
      get: () => hasEnded,
      set: (value: boolean) => {
        hasEnded = value;
        if (!this.#keepsLastOutput) this.#closeSlave();
      },
    });
  }

  #closeSlave(): void {
    if (this.#slave !== undefined) closeSync(this.#slave);
    this.#slave = undefined;
  }

  #openSlave(): void {
    this.#slave ??= openSync(this.#pty._pty, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK);
  }

  #flush(): void {
    if (this.#retry) return;
    let block = this.#pending[0];
    while (block && !this.#hasExited && !this.#pty._socket.destroyed) {
      let written: number;
      try {
        written = writeSync(this.#pty.fd, block, 0, Math.min(block.length, WRITE_BYTES));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') this.#dropPending();
        else this.#retryLater();
        return;
      }
      this.#pendingBytes -= written;
      if (written === block.length) this.#pending.shift();
      else this.#pending[0] = block.subarray(written);
      block = this.#pending[0];
    }
  }

  #retryLater(): void {
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.#flush();
    }, RETRY_MS);
  }

  #dropPending(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#pending.length = 0;
    this.#pendingBytes = 0;
  }

  #end(): void {
    if (this.#hasExited) return;
    this.#hasExited = true;
    this.#dropPending();
    this.#closeSlave();
  }
}

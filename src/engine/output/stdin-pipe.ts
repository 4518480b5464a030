import { closeSync, constants, linkSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { dirname, join } from 'node:path';

import type { ProcessDirectory } from '../instance/runtime-directory.js';
import { makeFifos, openReader } from '../system/fifo.js';
import { type FileOwner, writeFileFor } from '../system/own-user.js';

/**
 * High water: from this many unread bytes on, no more input is accepted. A client that waits for its responses never
 * gets there.
 */
const HIGH_WATER_BYTES = 4 * 1024 * 1024;
/** Low water: writers resume once no more than this is unread, in bytes; enough to keep the command busy meanwhile. */
const LOW_WATER_BYTES = 512 * 1024;
/** Polling interval for the command's end of the pipe, in milliseconds. */
const CONNECT_MS = 1;
/** The same once the command is late, in milliseconds. */
const SLOW_CONNECT_MS = 20;
/** Attempts at the fast interval: a shell takes a few milliseconds to get to its redirections. */
const FAST_ATTEMPTS = 200;

/** Whether more may be written: `closed` when the command has stopped reading. */
type Room = 'room' | 'closed';

const openWriter = (path: string): number => openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);

/**
 * Standard input of a command as a pipe that is fed while the command runs. Memory is bounded: `write` may be called
 * while `isFull` is false, and `whenRoom` resolves when the command has read most of what was written.
 * The pipe is a FIFO with its own name, created for this command alone: a process that an earlier command has left
 * running cannot read from it. A shell opens it like a text file, and its open(2) blocks until the daemon's (fifo(7)):
 * so the daemon knows that the reader exists, and a later EPIPE means that it has closed.
 */
export class StdinPipe {
  readonly #path: string;
  readonly #owner: FileOwner | undefined;
  readonly #waiting: Buffer[] = [];
  readonly #waiters: ((room: Room) => void)[] = [];
  #bytes = 0;
  /** Bytes that the kernel has not accepted yet. */
  #unreadBytes = 0;
  #making: Promise<void> | undefined;
  #isMade = false;
  #socket: Socket | undefined;
  #ownReader: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #attempts = 0;
  #hasEnded = false;
  #isClosed = false;

  /**
   * @param path of the FIFO, in a directory that only this user can enter; nothing is created yet
   * @param owner the user of the command, if it is not the daemon's
   */
  constructor(path: string, owner?: FileOwner) {
    this.#path = path;
    this.#owner = owner;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isMade(): boolean {
    return this.#isMade;
  }

  /** Whether the command has stopped reading, or has ended: further input is dropped. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Whether the high water is reached. */
  get isFull(): boolean {
    return this.#unreadBytes >= HIGH_WATER_BYTES;
  }

  /** Creates the FIFO, once. Rejects with the error of mkfifo(1), for example when the disk is full. */
  make(): Promise<void> {
    this.#making ??= this.#make();
    return this.#making;
  }

  /**
   * Links the FIFO to another name, under which a command is to open it, and waits for that. A file of that name is
   * replaced.
   */
  offerAt(path: string): void {
    this.#link(path);
    this.#disconnect();
    this.#attempts = 0;
    this.#connect();
  }

  /**
   * The same for a program whose standard input is opened by a process that must not block. `noteOpened` reports that
   * it was opened.
   */
  offerOpenAt(path: string): void {
    this.#link(path);
    this.#ownReader = openReader(this.#path);
    this.#attach(openWriter(this.#path));
  }

  /**
   * Notes that the pipe offered by `offerOpenAt` was opened. Until then the daemon's own reader stays, so that no byte
   * is lost.
   */
  noteOpened(): void {
    this.#closeOwnReader();
    this.#closeWhenEmpty();
  }

  /** Queues bytes for the command. They are kept until the command has read them, or stops reading. */
  write(bytes: Uint8Array): void {
    if (this.#isClosed || this.#hasEnded || bytes.length === 0) return;
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#bytes += chunk.length;
    this.#unreadBytes += chunk.length;
    if (this.#socket) this.#pass(chunk);
    else this.#waiting.push(chunk);
  }

  /** Ends the input: the command gets EOF once it has read everything. */
  end(): void {
    this.#hasEnded = true;
    this.#closeWhenEmpty();
  }

  /** Resolves when more may be written, or the pipe is closed. */
  whenRoom(): Promise<Room> {
    if (this.#isClosed) return Promise.resolve('closed');
    if (this.#unreadBytes <= LOW_WATER_BYTES) return Promise.resolve('room');
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  /** Closes the pipe and removes the FIFO; unread input is dropped. Idempotent. */
  close(): void {
    this.#release('closed');
    rmSync(this.#path, { force: true });
  }

  async #make(): Promise<void> {
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    await makeFifos([this.#path], this.#owner);
    this.#isMade = true;
    if (this.#isClosed) rmSync(this.#path, { force: true });
  }

  #link(path: string): void {
    rmSync(path, { force: true });
    linkSync(this.#path, path);
  }

  /** Opens the write end as soon as the read end is being opened. */
  readonly #connect = (): void => {
    if (this.#isClosed) return;
    try {
      this.#attach(openWriter(this.#path));
    } catch {
      // ENXIO: there is no reader yet. EMFILE: out of descriptors for now. ENOENT: removed; the command's end closes
      // this.
      this.#attempts += 1;
      this.#timer = setTimeout(this.#connect, this.#attempts < FAST_ATTEMPTS ? CONNECT_MS : SLOW_CONNECT_MS);
    }
  };

  #attach(fd: number): void {
    const socket = new Socket({ fd, readable: false, writable: true });
    this.#socket = socket;
    // EPIPE: the reader has closed.
    socket.on('error', () => {
      if (this.#socket === socket) this.#release('closed');
    });
    for (const chunk of this.#waiting.splice(0)) this.#pass(chunk);
    this.#closeWhenEmpty();
  }

  #pass(chunk: Buffer): void {
    const { length } = chunk;
    this.#socket?.write(chunk, (error) => {
      if (error) return;
      this.#unreadBytes -= length;
      if (this.#unreadBytes <= LOW_WATER_BYTES) this.#notify('room');
      this.#closeWhenEmpty();
    });
  }

  #closeWhenEmpty(): void {
    const isOpened = this.#ownReader === undefined;
    if (this.#hasEnded && isOpened && this.#socket && this.#unreadBytes === 0) this.#disconnect();
  }

  #closeOwnReader(): void {
    if (this.#ownReader !== undefined) closeSync(this.#ownReader);
    this.#ownReader = undefined;
  }

  #disconnect(): void {
    clearTimeout(this.#timer);
    this.#closeOwnReader();
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #release(room: Room): void {
    this.#isClosed = true;
    this.#waiting.length = 0;
    this.#unreadBytes = 0;
    this.#disconnect();
    this.#notify(room);
  }

  #notify(room: Room): void {
    for (const resolve of this.#waiters.splice(0)) resolve(room);
  }
}

/**
 * Places a command's standard input where a shell opens it: text as a file, a stream as a FIFO. An existing file is
 * replaced.
 * @param owner the user of the command, if it is not the daemon's
 */
export function placeStdin(path: string, stdin: string | StdinPipe, owner?: FileOwner): void {
  if (stdin instanceof StdinPipe) {
    stdin.offerAt(path);
    return;
  }
  // The path may be the FIFO of an earlier command, which must not be written to.
  rmSync(path, { force: true });
  writeFileFor(owner, path, stdin);
}

/** Creates pipes for streamed standard input, in the runtime directory. */
export class StdinPipes {
  readonly #runtime: ProcessDirectory;
  #count = 0;

  constructor(runtime: ProcessDirectory) {
    this.#runtime = runtime;
  }

  /** Returns a pipe for one command. Its FIFO is created when the command is about to start. */
  next(): StdinPipe {
    this.#runtime.ensure();
    this.#count += 1;
    return new StdinPipe(join(this.#runtime.path, 'stdin', String(this.#count)), this.#runtime.owner);
  }
}

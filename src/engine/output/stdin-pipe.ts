import { closeSync, constants, linkSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { dirname } from 'node:path';

import { makeFifos, openReader } from '../system/fifo.js';

/** Above this many unread bytes nothing more is taken, in bytes. A client that waits for its answers never gets there. */
const HIGH_WATER_BYTES = 4 * 1024 * 1024;
/** Writers are told to go on once no more than this is unread, in bytes: enough to keep the command busy meanwhile. */
const LOW_WATER_BYTES = 512 * 1024;
/** Pause between two attempts to open the pipe while the command has not opened its end yet, in milliseconds. */
const CONNECT_MS = 1;
/** The same once the command is late, in milliseconds. */
const SLOW_CONNECT_MS = 20;
/** Attempts at the fast pace: a shell takes a few milliseconds to come to its redirections. */
const FAST_ATTEMPTS = 200;

/** Whether a write may be followed by another one: `closed` when the command reads no more. */
export type Room = 'room' | 'closed';

const openWriter = (path: string): number => openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);

/**
 * Standard input of a command as a pipe that is fed while the command runs. Memory is bounded: `write` may be called while
 * `isFull` is false, and `whenRoom` resolves when the command has read most of what was written.
 *
 * The pipe is a FIFO under a name of its own, made for this command alone: a process that an earlier command has left
 * running cannot read from it. A shell opens it like a file of text, and its open(2) waits for the daemon's
 * (fifo(7)): so the daemon knows that the reader is there, and EPIPE means later that it has gone.
 */
export class StdinPipe {
  readonly #path: string;
  readonly #waiting: Buffer[] = [];
  readonly #waiters: ((room: Room) => void)[] = [];
  #bytes = 0;
  /** Bytes that the kernel has not taken yet. */
  #unreadBytes = 0;
  #making: Promise<void> | undefined;
  #isMade = false;
  #socket: Socket | undefined;
  #ownReader: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #attempts = 0;
  #hasEnded = false;
  #isClosed = false;

  /** @param path of the FIFO, in a directory that only this user can enter; nothing is made yet */
  constructor(path: string) {
    this.#path = path;
  }

  /** Bytes that were written so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether `make` has made the FIFO. */
  get isMade(): boolean {
    return this.#isMade;
  }

  /** Whether the command reads no more, or has ended: what is written now goes nowhere. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether `end` was called. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Whether too much is unread to take more. */
  get isFull(): boolean {
    return this.#unreadBytes >= HIGH_WATER_BYTES;
  }

  /** Makes the FIFO, once. Rejects with the error of mkfifo(1), for example when the disk is full. */
  make(): Promise<void> {
    this.#making ??= this.#make();
    return this.#making;
  }

  /** Gives the FIFO another name, under which a command is to open it, and waits for that. A file of that name is replaced. */
  offerAt(path: string): void {
    this.#link(path);
    this.#disconnect();
    this.#attempts = 0;
    this.#connect();
  }

  /**
   * The same for a program whose standard input is opened by somebody who must not be made to wait. `noteOpened` tells that it was
   * opened.
   */
  offerOpenAt(path: string): void {
    this.#link(path);
    this.#ownReader = openReader(this.#path);
    this.#attach(openWriter(this.#path));
  }

  /** Takes note that what was offered by `offerOpenAt` was opened. Until then the pipe stays, so that no byte is lost. */
  noteOpened(): void {
    this.#closeOwnReader();
    this.#closeWhenEmpty();
  }

  /** Takes bytes for the command. They are kept until it has read them, or reads no more. */
  write(bytes: Uint8Array): void {
    if (this.#isClosed || this.#hasEnded || bytes.length === 0) return;
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#bytes += chunk.length;
    this.#unreadBytes += chunk.length;
    if (this.#socket) this.#pass(chunk);
    else this.#waiting.push(chunk);
  }

  /** Ends the input: the command sees its end once it has read what was written. */
  end(): void {
    this.#hasEnded = true;
    this.#closeWhenEmpty();
  }

  /** Resolves when there is room for more, or it can never be. */
  whenRoom(): Promise<Room> {
    if (this.#isClosed) return Promise.resolve('closed');
    if (this.#unreadBytes <= LOW_WATER_BYTES) return Promise.resolve('room');
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  /** Closes the pipe and removes the FIFO; what was not read is dropped. Closing it twice is harmless. */
  close(): void {
    this.#release('closed');
    rmSync(this.#path, { force: true });
  }

  async #make(): Promise<void> {
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    await makeFifos([this.#path]);
    this.#isMade = true;
    if (this.#isClosed) rmSync(this.#path, { force: true });
  }

  #link(path: string): void {
    rmSync(path, { force: true });
    linkSync(this.#path, path);
  }

  /** Opens the writing end as soon as the reading end is being opened. */
  readonly #connect = (): void => {
    if (this.#isClosed) return;
    try {
      this.#attach(openWriter(this.#path));
    } catch {
      // ENXIO: nobody reads yet. EMFILE: out of descriptors for now. ENOENT: removed; the command's end closes this.
      this.#attempts += 1;
      this.#timer = setTimeout(this.#connect, this.#attempts < FAST_ATTEMPTS ? CONNECT_MS : SLOW_CONNECT_MS);
    }
  };

  #attach(fd: number): void {
    const socket = new Socket({ fd, readable: false, writable: true });
    this.#socket = socket;
    // EPIPE: nobody reads any more.
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
      if (this.#unreadBytes <= LOW_WATER_BYTES) this.#tell('room');
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
    this.#tell(room);
  }

  #tell(room: Room): void {
    for (const resolve of this.#waiters.splice(0)) resolve(room);
  }
}

/** Puts a command's standard input where a shell opens it: text as a file, a stream as a FIFO. What was there is replaced. */
export function placeStdin(path: string, stdin: string | StdinPipe): void {
  if (stdin instanceof StdinPipe) {
    stdin.offerAt(path);
    return;
  }
  // It may be the FIFO of an earlier command, which must not be written to.
  rmSync(path, { force: true });
  writeFileSync(path, stdin, { mode: 0o600 });
}

import { closeSync, fstatSync, ftruncateSync, futimesSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { AdapterError } from '../../core/errors.js';
import { makeFifos } from '../system/fifo.js';
import { OutputPipe } from '../output/output-pipe.js';

/** Slots whose FIFOs are made with the directory: one for the command, one for the next beside a background job. */
const FIRST_SLOTS = 2;
const MAX_SLOTS = 1000;

/** Files of one command in flight: its text, and the pipes that its output comes through. */
export interface CommandPipes {
  readonly name: string;
  readonly textFd: number;
  /** Bytes in the file. */
  textLength: number;
  readonly out: OutputPipe;
  readonly err: OutputPipe;
}

/** Name of the files of a slot, without their endings. */
export const pipesName = (index: number): string => String(index).padStart(3, '0');

const fifosOf = (directory: string, index: number): string[] =>
  ['out', 'err'].map((ending) => join(directory, `${pipesName(index)}.${ending}`));

/** FIFOs that have to be there before a shell's slots are opened. */
export const firstFifos = (directory: string): string[] =>
  Array.from({ length: FIRST_SLOTS }, (_, index) => fifosOf(directory, index)).flat();

/** A time of last access that no reading leaves, in seconds since the epoch. */
const UNREAD = 0;

/** Replaces the text in a slot's file, which stays open. */
export function writeText(slot: CommandPipes, text: string): void {
  const written = writeSync(slot.textFd, text, 0);
  if (written < slot.textLength) ftruncateSync(slot.textFd, written);
  slot.textLength = written;
  futimesSync(slot.textFd, UNREAD, UNREAD);
}

/** Whether it shows that the text was read since it was written. Where the file system does not note readings, none ever does. */
export const wasRead = (slot: CommandPipes): boolean => fstatSync(slot.textFd).atimeMs !== UNREAD;

/** The slots of one shell: a command takes a free one, which serves again when nobody holds its pipes any more. */
export class PipePool {
  readonly #directory: string;
  readonly #free: CommandPipes[] = [];
  readonly #all: CommandPipes[] = [];

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Opens the first ones, whose FIFOs are there. */
  open(): void {
    for (let index = 0; index < FIRST_SLOTS; index++) this.#add();
  }

  /**
   * Gives a free slot at once, or makes one more.
   * @throws AdapterError RESOURCE_EXHAUSTED when 1000 are in use
   */
  take(): CommandPipes | Promise<CommandPipes> {
    return this.#free.pop() ?? this.#make();
  }

  give(slot: CommandPipes): void {
    this.#free.push(slot);
  }

  close(): void {
    for (const { out, err, textFd } of this.#all) {
      out.close();
      err.close();
      closeSync(textFd);
    }
  }

  async #make(): Promise<CommandPipes> {
    const index = this.#all.length;
    if (index >= MAX_SLOTS) {
      throw new AdapterError(
        'RESOURCE_EXHAUSTED',
        `${MAX_SLOTS} commands of this session have left background processes`,
      );
    }
    await makeFifos(fifosOf(this.#directory, index));
    this.#add();
    return this.take();
  }

  #add(): void {
    const name = pipesName(this.#all.length);
    const path = join(this.#directory, name);
    const closers: (() => void)[] = [];
    try {
      const textFd = openSync(`${path}.cmd`, 'w', 0o600);
      closers.push(() => {
        closeSync(textFd);
      });
      futimesSync(textFd, UNREAD, UNREAD);
      const out = new OutputPipe(`${path}.out`);
      closers.push(() => {
        out.close();
      });
      const slot = { name, textFd, textLength: 0, out, err: new OutputPipe(`${path}.err`) };
      this.#all.push(slot);
      this.#free.push(slot);
    } catch (error) {
      for (const close of closers) close();
      throw error;
    }
  }
}

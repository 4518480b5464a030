import { closeSync, ftruncateSync, openSync, rmSync, symlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { AdapterError } from '../../core/errors.js';
import { makeFifos } from '../system/fifo.js';
import { OutputPipe } from '../output/output-pipe.js';
import { type FileOwner, giveFile, writeFileFor } from '../system/own-user.js';

/**
 * Slots whose FIFOs are created together with the directory: one for the command, one for the next beside a background
 * job. The second one is opened when it is needed: descriptors bound the number of sessions.
 */
const FIRST_SLOTS = 2;
const MAX_SLOTS = 1000;

/** Files of one command in flight: its text, and the pipes for its output. */
export interface CommandPipes {
  readonly name: string;
  /** File for texts that do not fit into a request. */
  readonly textFile: string;
  /** Opened with the first such text. */
  textFd: number | undefined;
  /** Bytes in the file. */
  textLength: number;
  /** Files of the command that is under way, besides its text. */
  readonly files: string[];
  /** The user of the shell, if it is not the daemon's. */
  readonly owner: FileOwner | undefined;
  readonly out: OutputPipe;
  readonly err: OutputPipe;
  /** Whether the shell's path of stderr leads to the pipe of stdout; nothing comes out of `err` then. */
  readonly isMerged: boolean;
}

/** Returns the base name of a slot's files, without their endings. */
export const pipesName = (index: number): string => String(index).padStart(3, '0');

/** Endings of the FIFOs of a slot. One that is merged has a link `err` to `out`, and nothing writes to its second pipe. */
const endingsOf = (isMerged: boolean): readonly [string, string] => (isMerged ? ['out', 'unused'] : ['out', 'err']);

const fifosOf = (directory: string, index: number, isMerged = false): string[] =>
  endingsOf(isMerged).map((ending) => join(directory, `${pipesName(index)}.${ending}`));

/** Returns the FIFOs that must exist before a shell's slots are opened. */
export const firstFifos = (directory: string): string[] =>
  Array.from({ length: FIRST_SLOTS }, (_, index) => fifosOf(directory, index)).flat();

/** Replaces the text in a slot's file, which stays open. */
export function writeText(slot: CommandPipes, text: string): void {
  slot.textFd ??= openText(slot);
  const written = writeSync(slot.textFd, text, 0);
  if (written < slot.textLength) ftruncateSync(slot.textFd, written);
  slot.textLength = written;
}

function openText({ textFile, owner }: CommandPipes): number {
  const fd = openSync(textFile, 'w', 0o600);
  giveFile(textFile, owner);
  return fd;
}

/** Writes a file of the command in a slot; it is removed with the command's end. */
export function writeFile(slot: CommandPipes, path: string, text: string): void {
  slot.files.push(path);
  writeFileFor(slot.owner, path, text);
}

/** The slots of one shell: a command takes a free one, which is reused once no process holds its pipes any more. */
export class PipePool {
  readonly #directory: string;
  readonly #owner: FileOwner | undefined;
  readonly #all: CommandPipes[] = [];
  readonly #free: CommandPipes[] = [];
  readonly #freeMerged: CommandPipes[] = [];
  /** Number of slots that were opened of those whose FIFOs exist from the start. */
  #opened = 0;
  /** Index of the next slot whose FIFOs have to be made. */
  #next = FIRST_SLOTS;

  /** @param owner the user of the shell, if it is not the daemon's */
  constructor(directory: string, owner?: FileOwner) {
    this.#directory = directory;
    this.#owner = owner;
  }

  /** Opens the first slot, whose FIFOs exist already. */
  open(): void {
    this.#add(this.#opened, false);
    this.#opened += 1;
  }

  /**
   * Returns a free slot immediately, or creates another one.
   * @param isMerged whether both streams are one pipe
   * @throws AdapterError RESOURCE_EXHAUSTED when 1000 are in use
   */
  take(isMerged = false): CommandPipes | Promise<CommandPipes> {
    const free = this.#freeOf(isMerged);
    if (!isMerged && free.length === 0 && this.#opened < FIRST_SLOTS) this.open();
    return free.pop() ?? this.#create(isMerged);
  }

  /** Returns a slot whose pipes no process holds any more. Text, input and variables of its command do not stay. */
  give(slot: CommandPipes): void {
    if (slot.textLength > 0) writeText(slot, '');
    for (const file of slot.files.splice(0)) rmSync(file, { force: true });
    this.#freeOf(slot.isMerged).push(slot);
  }

  /** Closes the descriptors of all slots, free or in use. The files stay. */
  close(): void {
    for (const { out, err, textFd } of this.#all) {
      out.close();
      err.close();
      if (textFd !== undefined) closeSync(textFd);
    }
  }

  #freeOf(isMerged: boolean): CommandPipes[] {
    return isMerged ? this.#freeMerged : this.#free;
  }

  async #create(isMerged: boolean): Promise<CommandPipes> {
    if (this.#next >= MAX_SLOTS) {
      throw new AdapterError(
        'RESOURCE_EXHAUSTED',
        `${MAX_SLOTS} commands of this session have left background processes`,
      );
    }
    const index = this.#next++;
    await makeFifos(fifosOf(this.#directory, index, isMerged), this.#owner);
    if (isMerged) symlinkSync(`${pipesName(index)}.out`, join(this.#directory, `${pipesName(index)}.err`));
    this.#add(index, isMerged);
    return this.take(isMerged);
  }

  #add(index: number, isMerged: boolean): void {
    const name = pipesName(index);
    const path = join(this.#directory, name);
    const [outEnding, errEnding] = endingsOf(isMerged);
    const out = new OutputPipe(`${path}.${outEnding}`);
    try {
      const err = new OutputPipe(`${path}.${errEnding}`);
      const text = { textFile: `${path}.cmd`, textFd: undefined, textLength: 0, files: [], owner: this.#owner };
      const slot = { name, ...text, out, err, isMerged };
      this.#all.push(slot);
      this.#freeOf(isMerged).push(slot);
    } catch (error) {
      out.close();
      throw error;
    }
  }
}

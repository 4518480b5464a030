import { rmSync, writeFileSync } from 'node:fs';

import { placeStdin, StdinPipe } from '../output/stdin-pipe.js';
import { type FileOwner, writeFileFor } from '../system/file-owner.js';
import { readRegularFile } from '../system/regular-file.js';
import type { PipeSet } from './pipe-sets.js';

/** Most bytes that are read of what bubblewrap complains about: it says a line. */
const MAX_COMPLAINT_BYTES = 64 * 1024;

/** The files of a one-shot beside its pipes. Those of its command are removed at the command's end. */
export class OneShotFiles {
  readonly pipes: PipeSet;
  /** The user of the process, if it is not the daemon's. */
  readonly #owner: FileOwner | undefined;
  /** Files of the command. */
  readonly #ofCommand: string[] = [];

  constructor(pipes: PipeSet, owner: FileOwner | undefined) {
    this.pipes = pipes;
    this.#owner = owner;
  }

  /** Places standard input where the process can open it; returns the path. Undefined without input. */
  placeStdin(stdin: string | StdinPipe | undefined): string | undefined {
    if (stdin === undefined) return undefined;
    const path = this.#addStdin();
    placeStdin(path, stdin, this.#owner);
    return path;
  }

  /** The same for the starter, which opens the file for every program, so that it must not block on a pipe. */
  offerStdin(stdin: string | StdinPipe | undefined): string | undefined {
    if (!(stdin instanceof StdinPipe)) return this.placeStdin(stdin);
    const path = this.#addStdin();
    stdin.offerOpenAt(path);
    return path;
  }

  /** Writes the request that a waiting shell reads. */
  writeRequest(request: string): void {
    this.#write(requestFile(this.pipes), request);
  }

  /** Writes a text of a command that is too long for an argument; returns the path. */
  writeText(text: string): string {
    return this.#write(`${this.pipes.path}.text`, text);
  }

  /** Makes the file for error output of bubblewrap; returns its path. */
  makeComplaint(): string {
    const path = this.#complaintPath;
    writeFileSync(path, '', { mode: 0o600 });
    return path;
  }

  /** Error output of bubblewrap when the sandbox failed before the command started; empty otherwise. */
  get complaint(): Buffer {
    // Undefined: a command has removed the adapter's files.
    return readRegularFile(this.#complaintPath, MAX_COMPLAINT_BYTES) ?? Buffer.alloc(0);
  }

  /** Removes the files of the command; the pipes stay for the next. */
  remove(): void {
    for (const file of this.#ofCommand.splice(0)) rmSync(file, { force: true });
  }

  get #complaintPath(): string {
    return `${this.pipes.path}.bwrap`;
  }

  #write(path: string, text: string): string {
    this.#ofCommand.push(path);
    writeFileFor(this.#owner, path, text);
    return path;
  }

  #addStdin(): string {
    const path = `${this.pipes.path}.in`;
    this.#ofCommand.push(path);
    return path;
  }
}

/** Returns the file with the request of the shell on these pipes. */
export const requestFile = (pipes: PipeSet): string => `${pipes.path}.cmd`;

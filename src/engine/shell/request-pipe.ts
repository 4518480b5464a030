import { writeSync } from 'node:fs';
import { join } from 'node:path';

import { placeStdin } from '../output/stdin-pipe.js';
import type { InstalledShell } from '../shells/list.js';
import type { DriverRequest } from '../shells/shell.js';
import { closeAll, drain, openBoth } from '../system/fifo.js';
import type { FileOwner } from '../system/file-owner.js';
import { randomText } from '../system/random.js';
import { type CommandPipes, pipesName, writeFile, writeText } from './pipe-pool.js';
import type { ShellRequest } from './shell-request.js';

const NONCE_BYTES = 16;
/** Placeholder for the nonce, of 22 characters, where no report is expected. */
const NO_NONCE = '0'.repeat(22);

/** The shell that reads the requests. */
interface ReadingShell {
  readonly installed: InstalledShell;
  readonly directory: string;
  /** The user of the shell, if it is not the daemon's. */
  readonly owner: FileOwner | undefined;
  readonly hasExited: () => boolean;
}

/** The FIFO from which a driver reads requests. */
export class RequestPipe implements Disposable {
  /** Where it is. */
  readonly path: string;
  readonly #shell: ReadingShell;
  #fd: number | undefined;
  #last = '';
  /** Whether the last request was written a second time. */
  #isRepeated = false;

  constructor(shell: ReadingShell) {
    this.#shell = shell;
    this.path = join(shell.directory, 'cmd');
  }

  /** Opens it. */
  open(): void {
    this.#fd = openBoth(this.path);
  }

  /** Sends a command to the driver. Returns the nonce that identifies its report. */
  send(request: ShellRequest): string {
    const { slot, surroundings, stdin } = request;
    let mode = stdin === undefined ? (request.isOnTerminal ? 't' : 'o') : request.isOnTerminal ? 'u' : 'i';
    const path = join(this.#shell.directory, slot.name);
    if (stdin !== undefined) {
      slot.files.push(`${path}.in`);
      placeStdin(`${path}.in`, stdin, this.#shell.owner);
    }
    if (surroundings) {
      writeFile(slot, `${path}.pre`, surroundings.before);
      writeFile(slot, `${path}.post`, surroundings.after);
      mode = mode.toUpperCase();
    }
    const nonce = randomText(NONCE_BYTES);
    const { text, number } = request;
    this.#send({ mode, slot: slot.name, number: commandNumber(number), nonce, text }, slot);
    return nonce;
  }

  /**
   * Asks the shell to save the state that a replacement would need, and to restore the terminal's modes, as soon as it
   * is idle.
   * @param names variables whose values it shows at the start of the state
   */
  askToSave(mustTidy: boolean, names: readonly string[] = []): void {
    this.#ask(mustTidy ? 'r' : 's', names.join(' '));
  }

  /** Asks a shell that waits for requests to report a command that it has not reported: see `Shell.reportLine`. */
  askToReport(): void {
    const { reportLine } = this.#shell.installed.shell;
    if (reportLine !== undefined) this.#write(reportLine);
  }

  /** Writes the last request again for a shell that is back at its prompt: see `Shell.takesRequestsOnce`. */
  repeatLast(): void {
    if (this.#shell.installed.shell.takesRequestsOnce !== true) return;
    this.#isRepeated = true;
    this.#write(this.#last);
  }

  /** Asks the shell to exit, so that its EXIT trap runs. */
  askToExit(): void {
    this.#ask('q');
  }

  /**
   * Takes back a request of a shell that has ended.
   * @returns whether its command has certainly not started, and can run elsewhere: its nonce is still in the pipe. A
   * process that is killed while it waits for input still consumes input that arrives at that moment; but it waits for
   * the start of a request, which is read apart from the nonce.
   */
  takeBack(nonce: string): boolean {
    if (this.#fd === undefined || this.#isRepeated) return false;
    let unread = '';
    drain(this.#fd, (chunk) => {
      unread += chunk.toString('latin1');
    });
    return unread.includes(nonce);
  }

  [Symbol.dispose](): void {
    closeAll([this.#fd]);
    this.#fd = undefined;
  }

  /** Sends a request; `slot` is that of its command. */
  #send(request: DriverRequest, slot?: CommandPipes): void {
    const { line, file } = this.#shell.installed.shell.request(request);
    if (slot && file !== undefined) writeText(slot, file);
    this.#last = line;
    this.#isRepeated = false;
    this.#write(line);
  }

  #write(line: string): void {
    if (this.#fd !== undefined && !this.#shell.hasExited()) writeSync(this.#fd, line);
  }

  #ask(mode: 's' | 'r' | 'q', text = ''): void {
    if (this.#shell.hasExited()) return;
    this.#send({ mode, slot: pipesName(0), number: commandNumber(0), nonce: NO_NONCE, ...(text !== '' && { text }) });
  }
}

/** The number of a command, in requests and in the tag of its processes. */
export const commandNumber = (number: number): string => String(number % 1_000_000).padStart(6, '0');

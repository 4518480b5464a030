import type { Command } from '../command/command.js';
import type { ShellProcess } from '../shell/shell-process.js';
import type { CommandPipes } from '../shell/pipe-pool.js';

/** Notified of the asynchronous results of `CommandQueue`. */
export interface QueueListener {
  /**
   * The pipes of the first command are ready, or could not be created and the command has left the queue: the next
   * command can be taken.
   */
  onReady(): void;
  /** A command has left the queue because its pipes could not be created. */
  onNotStarted(command: Command, error: unknown): void;
}

/** Returns the pipes of a command: immediately, or once they are created. */
function takePipes({ spec }: Command, shell: ShellProcess): CommandPipes | Promise<CommandPipes> {
  const { stdinPipe, isMerged } = spec;
  if (!stdinPipe || stdinPipe.isMade) return shell.takeSlot(isMerged);
  return stdinPipe.make().then(() => shell.takeSlot(isMerged));
}

/** Queue of the session's commands that have not started. */
export class CommandQueue {
  readonly #waiting: Command[] = [];
  readonly #listener: QueueListener;
  /** Pending creation of the pipes for the first command. */
  #creatingSlot: Promise<void> | undefined;

  constructor(listener: QueueListener) {
    this.#listener = listener;
  }

  /** Queued commands, in order. */
  get commands(): readonly Command[] {
    return this.#waiting;
  }

  /** Resolves when no pipes are being created; undefined when none are. */
  get settled(): Promise<void> | undefined {
    return this.#creatingSlot;
  }

  /** Puts a command at the end of the queue. */
  add(command: Command): void {
    this.#waiting.push(command);
  }

  /** Puts a command back at the head of the queue: it was taken, but has not run. */
  putBack(command: Command): void {
    this.#waiting.unshift(command);
  }

  /** Removes a command from the queue; returns false when it is not queued here. */
  remove(command: Command): boolean {
    const index = this.#waiting.indexOf(command);
    if (index !== -1) this.#waiting.splice(index, 1);
    return index !== -1;
  }

  /** Removes all commands and returns them. */
  clear(): Command[] {
    return this.#waiting.splice(0);
  }

  /**
   * Takes the first command when this shell has free pipes for it. Otherwise pipes are created and the command stays
   * queued: meanwhile it can be removed, and the shell may be replaced.
   */
  take(shell: ShellProcess, start: (command: Command, slot: CommandPipes) => void): void {
    const [command] = this.#waiting;
    if (!command || this.#creatingSlot) return;
    const slot = takePipes(command, shell);
    if (slot instanceof Promise) {
      this.#creatingSlot = this.#awaitSlot(command, shell, slot);
      return;
    }
    this.#waiting.shift();
    start(command, slot);
  }

  async #awaitSlot(command: Command, shell: ShellProcess, slot: Promise<CommandPipes>): Promise<void> {
    try {
      shell.returnSlot(await slot);
    } catch (error) {
      // A shell that has ended meanwhile has no pipes; the next shell may have some.
      if (!shell.terminal.hasExited && this.remove(command)) this.#listener.onNotStarted(command, error);
    }
    this.#creatingSlot = undefined;
    this.#listener.onReady();
  }
}

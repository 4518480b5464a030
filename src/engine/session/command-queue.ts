import type { Command } from '../command/command.js';
import type { ShellProcess } from '../shell/shell-process.js';
import type { CommandPipes } from '../shell/pipe-pool.js';

/** Who is told of what does not happen at once. */
export interface QueueListener {
  /** The pipes of the first command are there, or could not be made and it has left the queue: the next can be taken. */
  onReady(): void;
  /** A command has left the queue because its pipes could not be made. */
  onNotStarted(command: Command, error: unknown): void;
}

/** The pipes of a command: at once, or when they are made. */
function takePipes({ spec: { stdinPipe } }: Command, shell: ShellProcess): CommandPipes | Promise<CommandPipes> {
  if (!stdinPipe || stdinPipe.isMade) return shell.takeSlot();
  return stdinPipe.make().then(() => shell.takeSlot());
}

/** The commands of a session that wait for their turn. */
export class CommandQueue {
  readonly #waiting: Command[] = [];
  readonly #listener: QueueListener;
  /** Pipes for the first command are on their way. */
  #makingSlot: Promise<void> | undefined;

  constructor(listener: QueueListener) {
    this.#listener = listener;
  }

  /** Commands that wait, in their order. */
  get commands(): readonly Command[] {
    return this.#waiting;
  }

  /** Resolves when no pipes are being made; undefined when none are. */
  get settled(): Promise<void> | undefined {
    return this.#makingSlot;
  }

  add(command: Command): void {
    this.#waiting.push(command);
  }

  /** Makes a command the first again: it was taken, but has not run. */
  putBack(command: Command): void {
    this.#waiting.unshift(command);
  }

  /** Takes a command out of its turn; false when it does not wait here. */
  remove(command: Command): boolean {
    const index = this.#waiting.indexOf(command);
    if (index !== -1) this.#waiting.splice(index, 1);
    return index !== -1;
  }

  /** Takes all commands out. */
  clear(): Command[] {
    return this.#waiting.splice(0);
  }

  /**
   * Takes the first command when there are pipes for it in this shell. Otherwise these are made, and the command stays:
   * meanwhile it can be taken out, and the shell may become another one.
   */
  take(shell: ShellProcess, start: (command: Command, slot: CommandPipes) => void): void {
    const [command] = this.#waiting;
    if (!command || this.#makingSlot) return;
    const slot = takePipes(command, shell);
    if (slot instanceof Promise) {
      this.#makingSlot = this.#awaitSlot(command, shell, slot);
      return;
    }
    this.#waiting.shift();
    start(command, slot);
  }

  async #awaitSlot(command: Command, shell: ShellProcess, slot: Promise<CommandPipes>): Promise<void> {
    try {
      shell.returnSlot(await slot);
    } catch (error) {
      // A shell that has ended meanwhile has no pipes to give; the next one may.
      if (!shell.terminal.hasExited && this.remove(command)) this.#listener.onNotStarted(command, error);
    }
    this.#makingSlot = undefined;
    this.#listener.onReady();
  }
}

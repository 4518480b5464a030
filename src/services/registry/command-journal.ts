import type { CommandRecord } from './command-record.js';

/** The known commands of all owners in the order of their acceptance. */
export class CommandJournal {
  /** Name of this node of a cluster; undefined for a daemon alone. */
  readonly node: string | undefined;
  /** Each command with its number; a Map keeps the order. */
  readonly #numbers = new Map<CommandRecord, number>();
  #lastNumber = 0;
  /** Called with each accepted command. */
  #listener: ((record: CommandRecord) => void) | undefined;

  constructor(node: string | undefined) {
    this.node = node;
  }

  /** Notes an accepted command. */
  add(record: CommandRecord): void {
    this.#lastNumber += 1;
    this.#numbers.set(record, this.#lastNumber);
    this.#listener?.(record);
  }

  /** Calls a listener with each command that is accepted from now on; undefined ends that. */
  listen(listener: ((record: CommandRecord) => void) | undefined): void {
    this.#listener = listener;
  }

  /** Drops a command. */
  remove(record: CommandRecord): void {
    this.#numbers.delete(record);
  }

  /** Known commands with their numbers, which rise with time; the newest first. */
  newestFirst(): (readonly [CommandRecord, number])[] {
    return [...this.#numbers].reverse();
  }
}

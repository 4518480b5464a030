/** Most commands that are kept. */
const MAX_COMMANDS = 200;

/** The commands that were run from this page, and the one that is looked at: as the arrow keys of a shell. */
export class CommandHistory {
  #commands: string[] = [];
  /** Index of the one that is looked at; the length while none is. */
  #at = 0;
  #draft = '';

  /** Adds a command, unless it is the last one again. */
  add(command: string): void {
    if (this.#commands.at(-1) !== command) this.#commands = [...this.#commands, command].slice(-MAX_COMMANDS);
    this.#at = this.#commands.length;
    this.#draft = '';
  }

  /** The command before, or after; the text that was there at the end. `current` is the text of the field. */
  move(step: -1 | 1, current: string): string {
    if (this.#at === this.#commands.length) this.#draft = current;
    this.#at = Math.min(this.#commands.length, Math.max(0, this.#at + step));
    return this.#commands[this.#at] ?? this.#draft;
  }
}

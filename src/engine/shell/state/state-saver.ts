import type { ShellProcess } from '../shell-process.js';
import * as states from './shell-state.js';

/**
 * Idle time after which the shell's state is saved, in milliseconds: long enough that consecutive commands do not pay
 * for it.
 */
const SAVE_AFTER_MS = 40;

/** The shell of a session, which can be replaced. */
interface SavedShell {
  readonly shell: ShellProcess;
  /** Whether a command or an internal request is under way. */
  readonly isBusy: boolean;
}

/** Has the shell of a session save its state after its commands, and reads what it has saved. */
export class StateSaver implements Disposable {
  readonly #session: SavedShell;
  readonly #timer: NodeJS.Timeout;
  #mustTidy = false;
  /** Whether commands have run since the last request to save the state. */
  #isUnsaved = true;
  /** Stamps of the state files that existed at the time of that request. */
  #before: readonly string[] = [];

  constructor(session: SavedShell) {
    this.#session = session;
    this.#timer = setTimeout(() => {
      // What the shell starts to tidy its terminal must not count as left by the command that runs.
      if (!this.#session.isBusy) this.saveNow();
    }, SAVE_AFTER_MS).unref();
  }

  /** Notes that the shell is another one. */
  noteReplaced(): void {
    this.#isUnsaved = true;
  }

  /** Notes the end of a command. A long-running one may have left the terminal's modes in disorder. */
  noteEnd(isLongRunning: boolean): void {
    this.#mustTidy ||= isLongRunning;
    this.#isUnsaved = true;
    this.#timer.refresh();
  }

  /** Requests a save of the shell's state, before anything else runs in the shell. */
  saveNow(): void {
    if (!this.#isUnsaved) return;
    this.#isUnsaved = false;
    const { shell } = this.#session;
    this.#before = states.stampsOfStates(shell.directory);
    shell.requests.askToSave(this.#mustTidy);
    this.#mustTidy = false;
  }

  /**
   * Reads the current state of an idle shell: exported variables, functions and aliases, as the shell prints them.
   * Undefined when the shell does not deliver it in time.
   * @param names variables whose values it shows at the start, where the shell can
   */
  async read(names: readonly string[]): Promise<string | undefined> {
    const { shell } = this.#session;
    const known = states.stampsOfStates(shell.directory);
    const isOver = () => shell !== this.#session.shell || shell.terminal.hasExited;
    // A save in progress is sufficient: nothing has run since it was requested.
    if (this.#isUnsaved) this.saveNow();
    else if (names.length === 0) shell.requests.askToSave(false);
    if (names.length > 0) shell.requests.askToSave(false, names);
    return states.newState(shell.directory, known, isOver, states.startOfValues(names));
  }

  /** The state as saved after the last command; undefined until the save is complete. */
  get saved(): string | undefined {
    return this.#isUnsaved ? undefined : states.stateBeyond(this.#session.shell.directory, this.#before);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}

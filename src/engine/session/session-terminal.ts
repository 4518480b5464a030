import { type TerminalReaders, terminalReaders } from '../command/terminal-readers.js';
import type { TerminalSize } from '../shell/session-shell.js';
import type { RunCycle } from './run-cycle.js';
import type { SessionContext } from './session-context.js';

/** The terminal of a session: what is typed into it, who reads that, and its size. */
export class SessionTerminal implements Disposable {
  readonly #context: Pick<SessionContext, 'sessionShell' | 'listener' | 'echo'>;
  readonly #cycle: Pick<RunCycle, 'wedge'>;

  constructor(context: Pick<SessionContext, 'sessionShell' | 'listener' | 'echo'>, cycle: Pick<RunCycle, 'wedge'>) {
    this.#context = context;
    this.#cycle = cycle;
  }

  /** Its size, in characters. */
  get size(): TerminalSize {
    return this.#context.sessionShell.size;
  }

  /** Sets the size, in characters. */
  resize(cols: number, rows: number): void {
    const { sessionShell, listener } = this.#context;
    sessionShell.resize(cols, rows);
    listener.tap?.onResize(cols, rows);
  }

  /** Programs that may read its input at the moment; none when the shell itself would read it. */
  readers(): TerminalReaders {
    return terminalReaders(this.#context.sessionShell.shell);
  }

  /** Whether a process waits for its input. */
  get isRead(): boolean {
    const { pid, processes, terminal } = this.#context.sessionShell.shell;
    const reader = processes.findTerminalReader(pid, terminal.slavePath);
    return reader !== undefined && reader.kind !== 'hidden';
  }

  /** Whether it echoes what is typed now; false when that cannot be determined. */
  showsTyped(): Promise<boolean> {
    return this.#context.echo.showsTyped(this.#context.sessionShell.shell.terminal.slavePath);
  }

  /**
   * Types for the running command; returns the number of bytes accepted.
   * @throws AdapterError INPUT_FULL
   */
  type(data: string, isEndOfFile: boolean): number {
    const { terminal } = this.#context.sessionShell.shell;
    const accepted = terminal.write(data);
    if (isEndOfFile) terminal.writeEndOfFile();
    this.#cycle.wedge.noteActivity();
    return accepted;
  }

  [Symbol.dispose](): void {
    this.#context.echo[Symbol.dispose]();
  }
}

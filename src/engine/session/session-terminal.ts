import { type TerminalReaders, terminalReaders } from '../command/terminal-readers.js';
import type { TerminalSize } from '../shell/session-shell.js';
import { TerminalEcho } from '../shell/terminal-echo.js';
import { findTerminalReader } from '../shell/wedge-detector.js';
import type { RunCycle } from './run-cycle.js';
import type { SessionContext } from './session-context.js';

/** The terminal of a session: what is typed into it, who reads that, and its size. */
export class SessionTerminal implements Disposable {
  readonly #context: Pick<SessionContext, 'sessionShell' | 'listener'>;
  readonly #cycle: Pick<RunCycle, 'wedge'>;
  readonly #echo: TerminalEcho;

  constructor(context: Pick<SessionContext, 'sessionShell' | 'listener' | 'options'>, cycle: Pick<RunCycle, 'wedge'>) {
    this.#context = context;
    this.#cycle = cycle;
    this.#echo = new TerminalEcho(context.options.pool.env['PATH'] ?? '');
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

  /** Whether a process is blocked in a read from it. */
  get isRead(): boolean {
    return findTerminalReader(this.#context.sessionShell.shell) !== undefined;
  }

  /** Whether it echoes what is typed now; false when that cannot be determined. */
  showsTyped(): Promise<boolean> {
    return this.#echo.showsTyped(this.#context.sessionShell.shell.terminal.slavePath);
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
    this.#echo[Symbol.dispose]();
  }
}

import type { LimitTarget } from '../command/resource-use.js';
import type { TerminalEcho } from '../shell/terminal-echo.js';
import type { SessionShell } from '../shell/session-shell.js';
import type { CommandRun } from './command-run.js';
import type { SessionLife } from './session-state.js';
import type { CommandQueue, SessionListener, SessionOptions } from './session.js';

/** State that the parts of one session share. */
export interface SessionContext {
  readonly options: SessionOptions;
  readonly listener: SessionListener;
  readonly queue: CommandQueue;
  readonly sessionShell: SessionShell;
  /** The session as a limit target. */
  readonly limitTarget: LimitTarget;
  readonly life: SessionLife<CommandRun>;
  readonly echo: TerminalEcho;
  /** Takes the next command from the queue, if nothing prevents that. */
  next(): void;
}

import type { Refusal } from '../../core/egress/refusal.js';
import type { Limits } from '../../core/limits/limits.js';
import type { Log } from '../../core/logging/log.js';
import type { ShellReplacement } from '../../core/metrics/metrics.js';
import type { SandboxProfile } from '../../core/sandbox/profiles.js';
import type { Command } from '../command/command.js';
import type { Breach } from '../command/resource-use.js';
import type { InputCertainty } from '../shell/wedge-detector.js';
import type { ShellPool } from '../shell/shell-pool.js';
import type { InstalledShell } from '../shells/list.js';

/** Options of a session. */
export interface SessionOptions {
  readonly installed: InstalledShell;
  readonly sandbox: SandboxProfile;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cols: number;
  readonly rows: number;
  readonly killGraceMs: number;
  /** Limits of all commands of the session together. */
  readonly limits: Limits;
  readonly wedgeTimeoutMs: number;
  readonly pool: ShellPool;
  readonly log: Log;
}

/** Gets what a recording of a session shows. */
export interface SessionTap {
  /** A command begins to run; once more when it is taken to another shell. */
  onStarted(command: Command): void;
  /** The terminal has received bytes during the running command, among them the echo of typed input. */
  onTerminalData(chunk: Buffer): void;
  /** The terminal has another size, in characters. */
  onResize(cols: number, rows: number): void;
}

/** Notified of events in a session that are not part of a command's result. */
export interface SessionListener {
  /** Undefined unless the session is recorded. */
  readonly tap?: SessionTap | undefined;
  /** A command is long-running, or may have left processes running: its resource use is worth measuring. */
  onLingering(): void;
  /** A command waits for terminal input. */
  onAwaitingInput(command: Command, certainty: InputCertainty): void;
  /** The session's shell is being replaced. */
  onShellReplaced(why: ShellReplacement): void;
  /** A background process has wanted a connection that the allow-list of the sandbox refuses, for the first time. */
  onRefused(refusal: Refusal): void;
  /** The shell has ended and no other could be started: the session is unusable. */
  onFailed(error: Error): void;
  /** The session exceeds a limit although everything in it was ended: it has to be closed. */
  onExceeded(breach: Breach): void;
}

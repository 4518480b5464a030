import type { Limits } from '../../core/limits/limits.js';
import type { Log } from '../../core/logging/log.js';
import type { ShellReplacement } from '../../core/metrics/metrics.js';
import type { SandboxProfile } from '../../core/sandbox/profiles.js';
import type { Command } from '../command/command.js';
import type { Breach } from '../command/resource-use.js';
import type { ShellPool } from '../shell/shell-pool.js';
import type { InstalledShell } from '../shells/list.js';

/** What a session is opened with. */
export interface SessionOptions {
  readonly installed: InstalledShell;
  readonly sandbox: SandboxProfile;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cols: number;
  readonly rows: number;
  readonly killGraceMs: number;
  /** Of all that runs in it together. */
  readonly limits: Limits;
  readonly wedgeTimeoutMs: number;
  readonly pool: ShellPool;
  readonly log: Log;
}

/** Who is told what happens in a session outside of a command's own result. */
export interface SessionListener {
  /** A command has not ended within a moment, or may have left something running: it can use more than nothing. */
  onLingering(): void;
  /** A command waits for its terminal. */
  onAwaitingInput(command: Command): void;
  /** The session gets a new shell. */
  onShellReplaced(why: ShellReplacement): void;
  /** The shell has ended and no other could be started: the session is of no more use. */
  onFailed(error: Error): void;
  /** It exceeds a limit though everything in it was ended: the session has to end. */
  onExceeded(breach: Breach): void;
}

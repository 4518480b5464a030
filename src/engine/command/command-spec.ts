import type { Limits } from '../../core/limits/limits.js';
import type { OutputLimits } from '../../core/output/output-window.js';
import type { SandboxProfile } from '../../core/sandbox/profiles.js';
import type { StdinPipe } from '../output/stdin-pipe.js';

/** A command to run, after all checks. */
export interface CommandSpec {
  readonly id: string;
  /** Shell text; with `args`, the name of a program. */
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly stdin?: string | undefined;
  /** Standard input that is fed while the command runs; replaces `stdin`. */
  readonly stdinPipe?: StdinPipe | undefined;
  readonly timeoutMs: number;
  readonly noOutputTimeoutMs?: number | undefined;
  /**
   * One-shots only: how long the command may go on after the last reader of its stdout is gone, in milliseconds.
   * @default unlimited
   */
  readonly closedOutputTimeoutMs?: number | undefined;
  /**
   * Whether it is the daemon's own, and not counted among the commands that run.
   * @default false
   */
  readonly isInternal?: boolean | undefined;
  readonly tty: boolean;
  /**
   * Whether stderr is written to the pipe of stdout.
   * @default false
   */
  readonly isMerged?: boolean | undefined;
  /**
   * Sandbox profile of a one-shot.
   * @default the configured profile
   */
  readonly sandbox?: SandboxProfile | undefined;
  readonly limits: OutputLimits;
  /** Limits of this command, stricter than those of the session. */
  readonly resourceLimits?: Limits | undefined;
}

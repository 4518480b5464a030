import { expect } from 'vitest';

import type { ErrorCode } from '../../../src/core/errors.js';
import type { RequestInput } from '../../../src/core/protocol/requests.js';
import type { CommandResult } from '../../../src/core/protocol/results.js';
import type { DaemonOptions } from '../../support/daemon.js';
import type { TrapContext } from './context.js';

/** What a command may be given besides its text. */
export type StepOptions = Partial<Omit<RequestInput<'execute_command'>, 'command' | 'session_id'>>;

/** What a result must be. What is left out must be as after `true`: no output, exit code 0, the same shell. */
export interface Expectation {
  readonly stdout?: string | RegExp;
  readonly stderr?: string | RegExp;
  readonly exit_code?: number;
  readonly status?: CommandResult['status'];
  readonly session_state?: CommandResult['session_state'];
  readonly killed_by?: CommandResult['killed_by'];
  readonly lossy?: boolean;
  readonly working_directory?: string | RegExp;
  /** Sizes are compared where they are given; else they must fit an untrimmed stdout and stderr. */
  readonly stdout_bytes?: number;
  /** All of standard output, where `stdout` says only what trimming leaves of it. */
  readonly whole?: string;
  readonly stderr_bytes?: number;
  /** Processes that the answer must name as left running, in order of start: `some`, when which is a matter of moments. */
  readonly background?: readonly RegExp[] | 'some' | 'any';
  /** The request is refused with this code instead. */
  readonly error?: ErrorCode;
  /** The command's own run time in milliseconds, to which the margin for the answer is added. */
  readonly takesMs?: number;
  /** Anything else. */
  readonly check?: (result: CommandResult, trap: TrapContext) => void | Promise<void>;
}

/** One command of a trap. */
export interface Step {
  readonly command: string | ((trap: TrapContext) => string);
  readonly expect: Expectation;
  readonly options: StepOptions;
  /** Without a session. */
  readonly alone: boolean;
  /** What the client does while the command runs. */
  readonly during: ((trap: TrapContext) => Promise<void>) | undefined;
}

/** One row of a table: commands that run in order in a session of their own. */
export interface Trap {
  /** Number on the page of traps: even ones and letters are further members of the same family. */
  readonly id: string;
  readonly title: string;
  readonly session?: RequestInput<'open_session'>;
  readonly steps?: readonly Step[];
  /** What commands in order cannot say. Runs after the steps. */
  readonly run?: (trap: TrapContext) => Promise<void>;
  /** How often the shell is replaced; 0 by default. */
  readonly restarts?: number;
  /** A command that shows that the session still works, where a plain `echo` would say something else. */
  readonly probe?: (word: string) => Step;
  /** What is wrong in the daemon today: the row must fail until that is mended, and says so when it no longer does. */
  readonly knownFault?: string;
  /** The session is gone at the end of the row, by its own doing. */
  readonly isClosed?: boolean;
  /** A daemon of the row's own; the row is skipped when another address is tested. */
  readonly daemon?: DaemonOptions;
  /** The row is about this build's program, not about the daemon at an address: skipped when another one is tested. */
  readonly isLocal?: boolean;
}

/** Any of several values, where the page leaves a choice. */
export const oneOf = <T>(...values: readonly T[]): T => expect.toBeOneOf([...values]) as T;

/** A command in the row's session, and what must come of it. */
export function run(command: Step['command'], expect: Expectation = {}, options: StepOptions = {}): Step {
  return { command, expect, options, alone: false, during: undefined };
}

/** A command without a session. */
export function alone(command: Step['command'], expect: Expectation = {}, options: StepOptions = {}): Step {
  return { ...run(command, { session_state: null, ...expect }, options), alone: true };
}

/** A command during which the client does something. */
export function runWhile(
  command: Step['command'],
  during: (trap: TrapContext) => Promise<void>,
  expect: Expectation = {},
  options: StepOptions = {},
): Step {
  return { ...run(command, expect, { stream: true, ...options }), during };
}

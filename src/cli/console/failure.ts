import { ClientError, type ClientErrorCode } from '../../client/errors.js';
import { ConfigurationError } from '../../config/model/problems.js';
import type { CommandLine, Output } from './context.js';
import { paint } from './style.js';

/**
 * Exit codes of the command line. `exec` returns the command's own exit code, and the codes of docker for other
 * failures.
 */
export const EXIT = { ok: 0, failed: 1, usage: 2, execTimedOut: 124, execFailed: 125, execDenied: 126 } as const;

/** A failure with a remedy. */
export class CommandLineError extends Error {
  override readonly name = 'CommandLineError';
  /** The remedy; undefined if none is known. */
  readonly hint: string | undefined;

  constructor(message: string, options: { readonly hint?: string | undefined; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.hint = options.hint;
  }
}

/** Invalid arguments: nothing was executed. */
export class UsageError extends CommandLineError {}

const defaultCommandLine: CommandLine = (words) => `shell-adapter ${words}`;

/** Describes an error for people, without the remedy. */
export const messageFor = (error: unknown): string => describeFailure(error, defaultCommandLine).message;

/**
 * Prints an error for people on standard error, without a stack.
 * @param commandLine formats the command lines of hints. Default: without the options that specify the daemon
 */
export async function reportFailure(
  error: unknown,
  stderr: Output,
  commandLine: CommandLine = defaultCommandLine,
): Promise<void> {
  const { message, hint } = describeFailure(error, commandLine);
  const label = paint(stderr, 'red', 'shell-adapter:');
  await stderr.write(`${label} ${message}\n${hint === undefined ? '' : `${hint}\n`}`);
}

const HINTS: Partial<Record<ClientErrorCode, string | ((commandLine: CommandLine) => string)>> = {
  SESSION_NOT_FOUND: (commandLine) => `\`${commandLine('sessions')}\` lists the sessions that are open.`,
  SESSION_LIMIT: (commandLine) =>
    `\`${commandLine('sessions')}\` lists them, \`${commandLine('close ID')}\` ends one. The limit is max_sessions.`,
  RECORDING_NOT_FOUND: (commandLine) => `\`${commandLine('recordings')}\` lists the recordings.`,
  CHECKPOINT_NOT_FOUND: (commandLine) => `\`${commandLine('checkpoint --list')}\` lists the checkpoints.`,
  CHECKPOINT_TOO_LARGE: 'Raise the limit in the configuration, or take something out of the workspace.',
  CONFIRMATION_NOT_FOUND: (commandLine) => `\`${commandLine('confirm')}\` lists what waits for a confirmation.`,
  GIT_NOT_FOUND: 'Install git (apt-get install git on Debian and Ubuntu). Everything else works without it.',
  SHELL_NOT_FOUND: (commandLine) => `\`${commandLine('doctor')}\` lists the shells that are installed.`,
  PAYLOAD_TOO_LARGE: 'Put it into a file that the command reads, or raise socketio.max_message_bytes.',
};

function describeFailure(
  error: unknown,
  commandLine: CommandLine,
): { readonly message: string; readonly hint?: string | undefined } {
  if (error instanceof CommandLineError) return { message: error.message, hint: error.hint };
  if (error instanceof ConfigurationError) {
    return {
      message: error.message,
      hint: 'Every key is explained in the file that `shell-adapter config init` writes.',
    };
  }
  if (error instanceof ClientError) {
    const hint = HINTS[error.code];
    return { message: messageOfDaemon(error), hint: typeof hint === 'function' ? hint(commandLine) : hint };
  }
  return { message: error instanceof Error ? messageOf(error) : String(error) };
}

/** Message of the daemon, where a limit on a time-out is given for the option and in the unit of this program. */
function messageOfDaemon({ message, details }: ClientError): string {
  const { field, max, setting } = details ?? {};
  if (field !== 'timeout_ms' || typeof max !== 'number' || typeof setting !== 'string') return message;
  return `--timeout: at most ${max / 1000} s (${setting} of the daemon)`;
}

/**
 * Message of a system error. For mkdir on a read-only file system Node.js reports ENOENT, which would be misleading.
 */
export function messageOf({ code, syscall, path = '', message }: NodeJS.ErrnoException): string {
  if (code !== 'ENOENT' || syscall !== 'mkdir') return message;
  return `the directory ${path} cannot be made: its file system is read-only, or something above it is missing`;
}

import { ClientError, type ClientErrorCode } from '../client/errors.js';
import { ConfigurationError } from '../config/problems.js';
import { paint } from './style.js';
import type { Output } from './context.js';

/** Exit codes of the command line. `exec` gives the command's own, and those of docker for what is not the command's. */
export const EXIT = { ok: 0, failed: 1, usage: 2, execTimedOut: 124, execFailed: 125, execDenied: 126 } as const;

/** A failure that a person can do something about. */
export class CommandLineError extends Error {
  override readonly name = 'CommandLineError';
  /** What to do about it. */
  readonly hint: string | undefined;

  constructor(message: string, options: { readonly hint?: string | undefined; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.hint = options.hint;
  }
}

/** The arguments make no sense: nothing was tried. */
export class UsageError extends CommandLineError {}

/** Says on standard error what went wrong: for a person, without a stack. */
export async function reportFailure(error: unknown, stderr: Output): Promise<void> {
  const { message, hint } = describeFailure(error);
  const label = paint(stderr, 'red', 'shell-adapter:');
  await stderr.write(`${label} ${message}\n${hint === undefined ? '' : `${hint}\n`}`);
}

const HINTS: Partial<Record<ClientErrorCode, string>> = {
  SESSION_NOT_FOUND: '`shell-adapter sessions` lists the sessions that are open.',
  SESSION_LIMIT: '`shell-adapter sessions` lists them, `shell-adapter close` ends them. max_sessions is their number.',
  CHECKPOINT_NOT_FOUND: '`shell-adapter checkpoint --list` lists those that are there.',
  CHECKPOINT_TOO_LARGE: 'Raise the limit in the configuration, or take something out of the workspace.',
  CONFIRMATION_NOT_FOUND: '`shell-adapter confirm` lists what waits for a confirmation.',
  GIT_NOT_FOUND: 'Install git (apt-get install git on Debian and Ubuntu). Everything else works without it.',
  SHELL_NOT_FOUND: '`shell-adapter doctor` lists the shells that are there.',
  PAYLOAD_TOO_LARGE: 'Put it into a file that the command reads, or raise socketio.max_message_bytes.',
};

function describeFailure(error: unknown): { readonly message: string; readonly hint?: string | undefined } {
  if (error instanceof CommandLineError) return { message: error.message, hint: error.hint };
  if (error instanceof ConfigurationError) {
    return { message: error.message, hint: 'Every key is explained in config/shell_adapter.yaml of the package.' };
  }
  if (error instanceof ClientError) return { message: error.message, hint: HINTS[error.code] };
  return { message: error instanceof Error ? messageOf(error) : String(error) };
}

/** What a system error says; Node.js tells of a directory on a read-only file system that it is not there, which is no news. */
export function messageOf({ code, syscall, path = '', message }: NodeJS.ErrnoException): string {
  if (code !== 'ENOENT' || syscall !== 'mkdir') return message;
  return `the directory ${path} cannot be made: its file system is read-only, or something above it is missing`;
}

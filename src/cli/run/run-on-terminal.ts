import { constants } from 'node:os';

import {
  type AdapterClient,
  type ClientCommand,
  type ClientSession,
  ConfirmationRequiredError,
  type ExecuteOptions,
} from '../../client/index.js';
import { hasCode } from '../../client/errors.js';
import { type Outcome, runOrAsk } from './confirmations.js';
import type { Context, Output } from '../console/context.js';
import { openTerminal } from './command-terminal.js';
import type { CommandSignals } from './run-command.js';

/** Exit code when the reader of the output has closed the pipe: 128 + SIGPIPE. */
const BROKEN_PIPE_EXIT_CODE = 128 + constants.signals.SIGPIPE;
/** Exit code when a person leaves the command or its confirmation: 128 + SIGINT, as for Ctrl-C. */
export const LEFT_EXIT_CODE = 128 + constants.signals.SIGINT;

/** Runs commands: the client, or a session. */
type Runner = Pick<AdapterClient | ClientSession, 'execute'>;

/** A command, and how it is run. */
export type ExecuteRequest = [command: string, options: ExecuteOptions & { readonly commandId: string }];

/** Standard output has no reader: the command is ended, without an error message. */
class BrokenOutput extends Error {}

/** Aborts a command whose output has no reader any more. */
export function whenBroken(stdout: Output): AbortSignal {
  const gone = new AbortController();
  void stdout.broken.then(() => {
    gone.abort(new BrokenOutput());
  });
  return gone.signal;
}

/** How a running command is followed. */
interface FollowOptions {
  /** Output is not forwarded. */
  readonly isQuiet: boolean;
  readonly signals: CommandSignals;
  /** Resolves when output may be written. */
  readonly whenFree?: () => Promise<void>;
}

/** Forwards the output while the command runs. */
export async function follow(
  { stdout, stderr }: Context,
  command: ClientCommand,
  { isQuiet, signals, whenFree }: FollowOptions,
): Promise<Outcome> {
  signals.sendTo(command);
  try {
    if (!isQuiet) {
      for await (const { stream, data } of command) {
        await whenFree?.();
        await (stream === 'stdout' ? stdout : stderr).write(data);
      }
    }
    return await command;
  } catch (error) {
    if (error instanceof BrokenOutput) return BROKEN_PIPE_EXIT_CODE;
    if (error instanceof ConfirmationRequiredError && error.result) return error.result;
    throw error;
  }
}

/** Returns the exit code of a command whose confirmation was withdrawn. Throws other errors again. */
export async function reportCancelled({ stderr }: Context, error: unknown): Promise<number> {
  if (!hasCode(error, 'COMMAND_DENIED') || error.details?.['outcome'] !== 'withdrawn') throw error;
  await stderr.write('shell-adapter: cancelled: the command was not run\n');
  return LEFT_EXIT_CODE;
}

/** A command that runs with this terminal. */
export interface TerminalRun {
  readonly signals: CommandSignals;
  readonly request: ExecuteRequest;
}

/** A person ends what runs at a terminal: without a time-out of its own it gets the longest that the daemon allows. */
async function unhurried(client: AdapterClient, [command, options]: ExecuteRequest): Promise<ExecuteRequest> {
  const timeoutMs = options.timeoutMs ?? (await client.metadata()).limits.command_max_lifetime_ms;
  return [command, { ...options, timeoutMs }];
}

/** Runs a command of a session with this terminal. */
export async function runOnTerminal(
  context: Context,
  client: AdapterClient,
  session: ClientSession,
  { signals, request: given }: TerminalRun,
): Promise<Outcome> {
  const runner: Runner = session;
  const request = await unhurried(client, given);
  const start = async () => {
    const command = runner.execute(...request);
    await using terminal = openTerminal(context, { client, session, command });
    const followed = follow(context, command, { isQuiet: false, signals, whenFree: terminal.whenFree });
    return await Promise.race([followed, terminal.closed.then(() => LEFT_EXIT_CODE)]);
  };
  return runOrAsk(context, client, start, LEFT_EXIT_CODE);
}

import { randomBytes } from 'node:crypto';
import { constants } from 'node:os';

import { hasCode } from '../../client/errors.js';
import {
  type AdapterClient,
  type ClientCommand,
  type ClientSession,
  type CommandResult,
  ConfirmationRequiredError,
  type ExecuteOptions,
  type InputSource,
  type SignalName,
} from '../../client/index.js';
import { commandIdFrom, ID_BYTES } from '../../core/ids.js';
import type { SandboxProfile } from '../../core/sandbox-profiles.js';
import { settledWithin } from '../../core/time.js';
import type { DaemonOptions } from '../connect/daemon-address.js';
import { withDaemon } from '../connect/with-daemon.js';
import { commandLineFor, type Context, type Output } from '../console/context.js';
import { CommandLineError, EXIT } from '../console/failure.js';
import { confirmationHint, reasonLines } from '../console/style.js';
import { type JsonOption, jsonText } from '../console/subcommand.js';
import { openTerminal } from './command-terminal.js';
import { type Outcome, runOrAsk } from './confirmations.js';
import { printEndNotes, showNotes } from './exec-hints.js';
import { InputAhead, readToEnd } from './standard-input.js';

const SIGNAL_EXIT_BASE = 128;
/** Exit code when the reader of the output has closed the pipe: 128 + SIGPIPE. */
const BROKEN_PIPE_EXIT_CODE = 128 + constants.signals.SIGPIPE;
/** Exit code when a person leaves the command or its confirmation: 128 + SIGINT, as for Ctrl-C. */
const LEFT_EXIT_CODE = 128 + constants.signals.SIGINT;
/** Number of signals that are forwarded to the command. The next one ends this program, whatever the command does. */
const MAX_FORWARDED = 2;

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Forwards the signals of this program to the command. Before a command is set, they end the program. */
export class CommandSignals {
  #command: ClientCommand | undefined;
  #forwarded = 0;

  constructor(context: Context) {
    context.onSignal(FORWARDED, (signal) => {
      const name = FORWARDED.find((candidate) => candidate === signal);
      if (!this.#command || !name || this.#forwarded >= MAX_FORWARDED) {
        context.exitNow(SIGNAL_EXIT_BASE + constants.signals[signal]);
      }
      this.#forwarded += 1;
      void deliver(this.#command, name);
    });
  }

  /** Forwards signals to this command from now on. */
  sendTo(command: ClientCommand): void {
    this.#command = command;
  }
}

/** Pause before a signal is sent again to a command that the daemon has not begun yet, in milliseconds. */
const RETRY_MS = 50;

/** Sends a signal; again, while the daemon prepares the command, such as by a checkpoint: it must not run after it was given up. */
async function deliver(command: ClientCommand, name: SignalName): Promise<void> {
  // The end of the command, or of the connection, is reported elsewhere.
  const ended = command.result.catch(() => undefined);
  do {
    try {
      await command.signal(name);
      return;
    } catch (error) {
      if (!hasCode(error, 'COMMAND_NOT_FOUND', 'NO_RUNNING_COMMAND')) return;
    }
  } while (!(await settledWithin(ended, RETRY_MS)));
}

/**
 * Larger inputs are streamed, in bytes; smaller ones are part of the request if the daemon accepts requests of that
 * size.
 */
const MAX_TEXT_BYTES = 1024 * 1024;
/** Size reserved for the rest of a request, in bytes. */
const REQUEST_ROOM_BYTES = 4096;
/** How long to wait for a complete input before the command starts, in milliseconds. */
const QUICK_MS = 50;

const SEEN_FIRST = 'the policy has to see standard input first: reading it to its end';

/** Input of a command: a text that was complete before the start, or a source that is streamed. */
type CommandInput = string | InputSource;

/**
 * Reads standard input for a command. A short input that is complete at once and UTF-8 is returned as text, which the
 * policy can evaluate. Any other input is streamed while the command runs. If the policy would not allow the command
 * with an input that it cannot see, the input is first read to EOF, up to the size of a request.
 */
async function readInput(
  context: Context,
  client: AdapterClient,
  command: readonly [string, ...string[]],
  options: ExecOptions,
): Promise<CommandInput> {
  const ahead = new InputAhead(context.stdin);
  await ahead.read(MAX_TEXT_BYTES, QUICK_MS);
  if (ahead.isComplete && ahead.bytes === 0) return '';
  const { limits } = await client.metadata();
  const maxBytes = Math.min(MAX_TEXT_BYTES, limits.max_message_bytes - REQUEST_ROOM_BYTES);
  if (!ahead.isComplete && ahead.bytes <= maxBytes) {
    if (!(await isAllowedUnseen(client, command, options))) await readToEnd(context, ahead, maxBytes, SEEN_FIRST);
  }
  const text = ahead.isComplete && ahead.bytes <= maxBytes ? ahead.text() : undefined;
  return text !== undefined && Buffer.byteLength(JSON.stringify(text)) <= maxBytes ? text : ahead;
}

/** Whether the daemon runs a command whose input the policy cannot see. */
async function isAllowedUnseen(
  client: AdapterClient,
  [command, ...args]: readonly [string, ...string[]],
  { session, cwd }: ExecOptions,
): Promise<boolean> {
  const { action, enforced } = await client.request('check_command', {
    command,
    args: args.length === 0 ? undefined : args,
    cwd,
    session_id: session,
    stdin_stream: true,
  });
  return !enforced || action === 'allow';
}

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

/**
 * Forwards the output while the command runs.
 * @param isQuiet output is not forwarded
 * @param whenFree resolves when output may be written
 */
async function follow(
  { stdout, stderr }: Context,
  command: ClientCommand,
  signals: CommandSignals,
  isQuiet: boolean,
  whenFree?: () => Promise<void>,
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
  const request = await unhurried(client, given);
  const start = async () => {
    const command = session.execute(...request);
    await using terminal = openTerminal(context, { client, session, command });
    const followed = follow(context, command, signals, false, terminal.whenFree);
    return await Promise.race([followed, terminal.closed.then(() => LEFT_EXIT_CODE)]);
  };
  return runOrAsk(context, client, start, LEFT_EXIT_CODE);
}

/** What `exec` takes. */
interface ExecOptions extends DaemonOptions, JsonOption {
  readonly session?: string;
  /** Absolute. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** In milliseconds. */
  readonly timeout?: number;
  readonly tty?: boolean;
  /** Whether both streams are printed as one. */
  readonly merge?: boolean;
  readonly sandbox?: SandboxProfile;
  /** False when standard input is not read. */
  readonly stdin: boolean;
  /** Whether nothing is said of how the command has ended, and no warning. */
  readonly quiet?: boolean;
}

/**
 * Runs a command and forwards everything: input, output, signals, exit code.
 * @throws CommandLineError, ConfigurationError, ClientError
 */
export async function runCommand(
  context: Context,
  options: ExecOptions,
  words: readonly [string, ...string[]],
): Promise<void> {
  const signals = new CommandSignals(context);
  const isInteractive = options.tty === true && options.stdin && context.stdin.isTTY;
  const outcome = await withDaemon(options, context, async (client) => {
    const input = options.stdin && !context.stdin.isTTY ? await readInput(context, client, words, options) : undefined;
    const request = requestOf(context, words, { ...options, input });
    if (isInteractive) return runInteractively(context, client, { session: options.session, signals, request });
    const [, { commandId }] = request;
    using _ = options.quiet === true ? undefined : await showNotes(context, client, { ...options, words, commandId });
    const runner = options.session === undefined ? client : await client.attachSession(options.session);
    const start = () => follow(context, runner.execute(...request), signals, options.json ?? false);
    const mayAsk = options.json !== true && options.stdin;
    return await (mayAsk ? runOrAsk(context, client, start, LEFT_EXIT_CODE) : start());
  }).catch((error: unknown) => reportCancelled(context, error));
  if (typeof outcome === 'number') context.exitWith(outcome);
  else await conclude(context, outcome, options);
}

function requestOf(
  { stdout }: Context,
  [first, ...rest]: readonly [string, ...string[]],
  options: ExecOptions & { readonly input: CommandInput | undefined },
): ExecuteRequest {
  const { cwd, env, timeout, tty, sandbox, json, merge } = options;
  return [
    first,
    {
      // Web Crypto, which the client has for browsers too, would have to be loaded.
      commandId: commandIdFrom(randomBytes(ID_BYTES)),
      args: rest.length === 0 ? undefined : rest,
      cwd,
      env,
      stdin: options.input,
      timeoutMs: timeout,
      tty,
      sandbox,
      stream: json !== true,
      // The output is streamed: the result need not contain it again.
      output: { merge, ...(json !== true && { maxSize: 0 }) },
      signal: whenBroken(stdout),
    },
  ];
}

/** Runs the command with this terminal: in a new session, unless one is named. */
async function runInteractively(
  context: Context,
  client: AdapterClient,
  { session: id, ...run }: TerminalRun & { readonly session: string | undefined },
): Promise<Outcome> {
  const { columns: cols, rows } = context.stdout.size ?? {};
  const session = id === undefined ? await client.openSession({ cols, rows }) : await client.attachSession(id);
  try {
    return await runOnTerminal(context, client, session, run);
  } finally {
    if (id === undefined) await session.close();
  }
}

/** Describes how this client can confirm the command. */
function howToConfirm(
  context: Context,
  options: DaemonOptions,
  { confirmation_id: id, class: name, reasons = [] }: CommandResult,
): string {
  return [
    `shell-adapter: not run: the command has to be confirmed (${name ?? ''})`,
    ...reasonLines(reasons),
    confirmationHint(commandLineFor(context, options), id),
    '',
  ].join('\n');
}

async function conclude(context: Context, result: CommandResult, options: ExecOptions): Promise<void> {
  const isPending = result.status === 'confirmation_required';
  if (options.json) await context.stdout.write(jsonText(result));
  else if (isPending) await context.stderr.write(howToConfirm(context, options, result));
  else if (options.quiet !== true) await printEndNotes(context, result);
  if (isPending) {
    context.exitWith(EXIT.execDenied);
    return;
  }
  if (result.exit_code === null) throw new CommandLineError(`the command still runs as ${result.command_id}`);
  context.exitWith(result.timed_out ? EXIT.execTimedOut : result.exit_code);
}

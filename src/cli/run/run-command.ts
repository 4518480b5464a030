import { randomBytes } from 'node:crypto';
import { constants } from 'node:os';

import { hasCode } from '../../client/errors.js';
import type { AdapterClient, ClientCommand, CommandResult, InputSource, SignalName } from '../../client/index.js';
import { commandIdFrom, ID_BYTES } from '../../core/ids.js';
import type { SandboxProfile } from '../../core/sandbox-profiles.js';
import { settledWithin } from '../../core/time.js';
import type { DaemonOptions } from '../connect/daemon-address.js';
import { withDaemon } from '../connect/with-daemon.js';
import { commandLineFor, type Context } from '../console/context.js';
import { CommandLineError, EXIT } from '../console/failure.js';
import { onOneLine } from '../console/style.js';
import { type JsonOption, jsonText } from '../console/subcommand.js';
import { type Outcome, runOrAsk } from './confirmations.js';
import { printEndNotes, showHints, warnOfTimeout } from './exec-hints.js';
import {
  type ExecuteRequest,
  follow,
  LEFT_EXIT_CODE,
  reportCancelled,
  runOnTerminal,
  type TerminalRun,
  whenBroken,
} from './run-on-terminal.js';

const SIGNAL_EXIT_BASE = 128;
/** Number of signals that are forwarded to the command. The next one ends this program, whatever the command does. */
const MAX_FORWARDED = 2;

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Forwards the signals of this program to the command. Before a command is set, they end the program. */
export class CommandSignals {
  #command: ClientCommand | undefined;
  #forwarded = 0;

  constructor(context: Pick<Context, 'onSignal' | 'exitNow'>) {
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
/** Time without input or EOF after which a note for people is printed, in milliseconds. */
const SILENCE_MS = 3000;

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
    if (!(await isAllowedUnseen(client, command, options))) await readToEnd(context, ahead, maxBytes);
  }
  return (ahead.isComplete ? ahead.text(maxBytes) : undefined) ?? ahead;
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

/** Continues reading; prints a note for people when no data arrives. */
async function readToEnd({ stderr }: Context, ahead: InputAhead, maxBytes: number): Promise<void> {
  const note = setTimeout(() => {
    void stderr.write(
      'shell-adapter: the policy has to see standard input first: reading it to its end; --no-stdin if there is none\n',
    );
  }, SILENCE_MS);
  await ahead.read(maxBytes, Infinity);
  clearTimeout(note);
}

/** An input whose first part was read ahead. Iterating it yields the whole input. */
class InputAhead implements AsyncIterable<Uint8Array> {
  readonly #stdin: NodeJS.ReadStream;
  readonly #iterator: AsyncIterator<Buffer>;
  readonly #chunks: Buffer[] = [];
  /** The pending read. */
  #next: Promise<IteratorResult<Buffer, unknown>> | undefined;
  #bytes = 0;
  #isComplete = false;

  constructor(stdin: NodeJS.ReadStream) {
    this.#stdin = stdin;
    this.#iterator = (stdin as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  }

  /** Number of bytes that were read ahead. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether the input was read to EOF. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Reads until EOF, until there are more than `maxBytes` bytes, or until `ms` milliseconds have passed. */
  async read(maxBytes: number, ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolveLate) => {
      if (ms !== Infinity) timer = setTimeout(resolveLate, ms, undefined);
    });
    while (!this.#isComplete && this.#bytes <= maxBytes) {
      this.#next ??= this.#iterator.next();
      const next = await Promise.race([this.#next, late]);
      if (!next) break;
      this.#next = undefined;
      if (next.done === true) this.#isComplete = true;
      else {
        this.#chunks.push(next.value);
        this.#bytes += next.value.length;
      }
    }
    clearTimeout(timer);
  }

  /** The input as text; undefined when it exceeds `maxBytes` in a request, or is not UTF-8. */
  text(maxBytes: number): string | undefined {
    if (this.#bytes > maxBytes) return undefined;
    try {
      const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(this.#chunks));
      return Buffer.byteLength(JSON.stringify(text)) > maxBytes ? undefined : text;
    } catch {
      // A fatal decoder throws a TypeError: the bytes are not UTF-8.
      return undefined;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    for (let chunk = this.#chunks.shift(); chunk; chunk = this.#chunks.shift()) yield chunk;
    if (this.#isComplete) return;
    for (;;) {
      const next = await (this.#next ?? this.#iterator.next());
      this.#next = undefined;
      if (next.done === true) return;
      yield next.value;
    }
  }

  /** Stops reading. */
  destroy(): void {
    this.#stdin.destroy();
  }
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
    const hints = await notesOn(context, client, { ...options, words, commandId: request[1].commandId });
    try {
      const runner = options.session === undefined ? client : await client.attachSession(options.session);
      const start = () => follow(context, runner.execute(...request), { isQuiet: options.json ?? false, signals });
      const mayAsk = options.json !== true && options.stdin;
      return await (mayAsk ? runOrAsk(context, client, start, LEFT_EXIT_CODE) : start());
    } finally {
      hints[Symbol.dispose]();
    }
  }).catch((error: unknown) => reportCancelled(context, error));
  if (typeof outcome === 'number') context.exitWith(outcome);
  else await conclude(context, outcome, options);
}

/** What is said on standard error while the command runs; nothing with `--quiet`. */
async function notesOn(
  context: Context,
  client: AdapterClient,
  { quiet, ...command }: Parameters<typeof showHints>[2] & Pick<ExecOptions, 'quiet'>,
): Promise<Disposable> {
  if (quiet === true) return { [Symbol.dispose]: () => undefined };
  const hints = await showHints(context, client, command);
  const unsubscribe = warnOfTimeout(context, client, command.commandId);
  return {
    [Symbol.dispose]: () => {
      hints[Symbol.dispose]();
      unsubscribe();
    },
  };
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
  { confirmation_id: id = '', class: name, reasons = [] }: CommandResult,
): string {
  const why = reasons.map((reason) => `  ${onOneLine(reason, MAX_REASON)}`);
  const how = commandLineFor(context, options)(`confirm ${id} --approve --justification '…'`);
  return [
    `shell-adapter: not run: the command has to be confirmed (${name ?? ''})`,
    ...why,
    `Confirm it: ${how}`,
    '',
  ].join('\n');
}

/** Longest reason, in characters. */
const MAX_REASON = 200;

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

import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';

import type { AdapterClient, CommandResult } from '../../client/index.js';
import { commandIdFrom, ID_BYTES } from '../../core/ids.js';
import type { SandboxProfile } from '../../core/sandbox/profiles.js';
import { type Outcome, runOrAsk } from '../confirmations/prompt.js';
import { CommandSignals } from './command-signals.js';
import { commandLineFor } from '../console/command-line.js';
import type { Context } from '../console/context.js';
import type { DaemonOptions } from '../connect/daemon-address.js';
import { printEndNotes, showHints, warnOfTimeout } from './exec-hints.js';
import { CommandLineError, EXIT } from '../console/failure.js';
import {
  type ExecuteRequest,
  follow,
  LEFT_EXIT_CODE,
  reportCancelled,
  runOnTerminal,
  type TerminalRun,
  whenBroken,
} from './run-on-terminal.js';
import { type CommandInput, readInput } from './streamed-input.js';
import { onOneLine } from '../console/style.js';
import { withDaemon } from '../connect/with-daemon.js';

/** Options of `exec`. */
export interface ExecOptions extends DaemonOptions {
  readonly session?: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Time-out in seconds. */
  readonly timeout?: number;
  readonly tty?: boolean;
  /** Whether both streams are printed as one. */
  readonly merge?: boolean;
  readonly sandbox?: SandboxProfile;
  /** False when standard input is not read. */
  readonly stdin: boolean;
  readonly json?: boolean;
  /** Whether nothing is said of how the command has ended, and no warning. */
  readonly quiet?: boolean;
}

/**
 * Runs a command and forwards everything: input, output, signals, exit code.
 * @throws CommandLineError, ConfigurationError, ClientError
 */
export async function runCommand(
  context: Context,
  words: readonly [string, ...string[]],
  options: ExecOptions,
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
  { cwd, stdout }: Context,
  [first, ...rest]: readonly [string, ...string[]],
  options: ExecOptions & { readonly input: CommandInput | undefined },
): ExecuteRequest {
  const { env, timeout, tty, sandbox, json, merge } = options;
  return [
    first,
    {
      // Web Crypto, which the client has for browsers too, would have to be loaded.
      commandId: commandIdFrom(randomBytes(ID_BYTES)),
      args: rest.length === 0 ? undefined : rest,
      cwd: options.cwd === undefined ? undefined : resolve(cwd, options.cwd),
      env,
      stdin: options.input,
      timeoutMs: timeout === undefined ? undefined : Math.ceil(timeout * 1000),
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
  const { stdout, stderr } = context;
  if (result.status === 'confirmation_required') {
    if (options.json) await stdout.write(`${JSON.stringify(result, null, 2)}\n`);
    else await stderr.write(howToConfirm(context, options, result));
    context.exitWith(EXIT.execDenied);
    return;
  }
  if (options.json) await stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  else if (options.quiet !== true) await printEndNotes(context, result);
  if (result.exit_code === null) {
    throw new CommandLineError(`the command still runs as ${result.command_id}`);
  }
  context.exitWith(result.timed_out ? EXIT.execTimedOut : result.exit_code);
}

import type { CommandResult } from '../../core/protocol/results.js';
import type { RequestInput } from '../../core/protocol/requests.js';
import type { SandboxProfile } from '../../core/sandbox/profiles.js';
import type { InputSource } from './input-source.js';

/** How to connect. */
export interface ConnectOptions {
  /** Ways to the daemon, in the order they are tried. Default: `['websocket']`. */
  readonly transports?: readonly ('websocket' | 'polling')[];
  /** Whether a lost connection is made again, with all sessions and commands. Default: true. */
  readonly reconnect?: boolean;
  /** How long a connection may take to come about, in milliseconds. Default: 5000. */
  readonly connectTimeoutMs?: number;
  /**
   * How long an answer may take, in milliseconds; `Infinity` for no limit. Default: 30 000. `execute_command`,
   * `wait_command`, `llm_call`, `llm_stream` and the requests that look through the workspace have no limit by default: the daemon answers them
   * when the work is done, or its own time-out ends it.
   */
  readonly requestTimeoutMs?: number;
  /** How long a lost connection is tried again, in milliseconds; `Infinity` for ever. Default: 30 000. */
  readonly reconnectTimeoutMs?: number;
  /** Pause before the first attempt, in milliseconds; it doubles up to 2 s. Default: 100. */
  readonly reconnectDelayMs?: number;
  /** The token to show, see `shell-adapter token`. Default: none, which is enough for programs of the daemon's own user. */
  readonly token?: string | undefined;
}

/** The options with their defaults. */
export type ConnectSettings = Required<Omit<ConnectOptions, 'token'>> & Pick<ConnectOptions, 'token'>;

/** Fills in the defaults. */
export const connectSettings = ({
  transports = ['websocket'],
  reconnect = true,
  connectTimeoutMs = 5000,
  requestTimeoutMs = 30_000,
  reconnectTimeoutMs = 30_000,
  reconnectDelayMs = 100,
  token,
}: ConnectOptions): ConnectSettings => ({
  transports,
  reconnect,
  connectTimeoutMs,
  requestTimeoutMs,
  reconnectTimeoutMs,
  reconnectDelayMs,
  token,
});

/** How a single request is made. */
export interface RequestOptions {
  /** Aborting it rejects the request at once with the signal's reason; what the daemon does with it is open. */
  readonly signal?: AbortSignal | undefined;
  /** How long the answer may take, in milliseconds; `Infinity` for no limit. Default: as the client was connected. */
  readonly timeoutMs?: number | undefined;
}

/** What a session is opened with. */
export type OpenSessionOptions = RequestInput<'open_session'>;

/** How output is returned in a result. Sizes in characters; the defaults are the daemon's configuration. */
export interface OutputOptions {
  readonly maxSize?: number | undefined;
  readonly beginSize?: number | undefined;
  readonly endSize?: number | undefined;
  readonly encoding?: CommandResult['encoding'] | undefined;
  readonly stripAnsi?: boolean | undefined;
  readonly collapseCr?: boolean | undefined;
}

/** How a command is run. Times in milliseconds. */
export interface ExecuteOptions {
  /** Run the command as a program with exactly these arguments, without shell parsing. */
  readonly args?: readonly string[] | undefined;
  /** Directory for this command alone. */
  readonly cwd?: string | undefined;
  /** Variables for this command alone. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /**
   * Standard input: text, or anything that gives bytes or text while the command runs, such as a stream of Node's; of any size. A
   * source that fails ends the command. Default: the session's terminal; nothing for a command without a session.
   */
  readonly stdin?: string | Uint8Array | InputSource | undefined;
  /** Most time the command may take. Default: the daemon's `command_max_lifetime`. */
  readonly timeoutMs?: number | undefined;
  /** Most time it may take without printing anything. Default: no limit. */
  readonly noOutputTimeoutMs?: number | undefined;
  /** Put stdout and stderr on a terminal; both come back as stdout. Default: false. */
  readonly tty?: boolean | undefined;
  /** A stricter sandbox than the configured one, for a command without a session. */
  readonly sandbox?: SandboxProfile | undefined;
  /** Answer at once with `status: 'running'`; `wait()` gives the end. Default: false. */
  readonly background?: boolean | undefined;
  readonly output?: OutputOptions | undefined;
  /** Limits on what it may use, under their names in the protocol, lower than those that hold anyway. */
  readonly limits?: RequestInput<'execute_command'>['limits'];
  /** Id of the command. Default: 128 random bits. Never use one twice. */
  readonly commandId?: string | undefined;
  /** Let the output be iterated while it comes. Default: false. */
  readonly stream?: boolean | undefined;
  /** Aborting it ends the command: SIGINT, then SIGTERM, then SIGKILL, a second apart. */
  readonly signal?: AbortSignal | undefined;
}

/** Where a command is thought to run. */
export interface CheckOptions {
  /** See `ExecuteOptions`. */
  readonly args?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  /** The session whose directory, aliases and functions count. Default: none. */
  readonly sessionId?: string | undefined;
}

/** The request for a command, as it goes over the wire. */
export function executeRequest(
  command: string,
  options: ExecuteOptions,
  ids: { readonly commandId: string; readonly sessionId: string | null },
): RequestInput<'execute_command'> & { readonly command_id: string } {
  const { args, cwd, env, stdin, tty, sandbox, background, stream } = options;
  return {
    command,
    command_id: ids.commandId,
    session_id: ids.sessionId ?? undefined,
    args: args && [...args],
    cwd,
    env: env && { ...env },
    ...(typeof stdin === 'string' ? { stdin } : stdin && { stdin_stream: true }),
    timeout_ms: options.timeoutMs,
    no_output_timeout_ms: options.noOutputTimeoutMs,
    tty,
    sandbox,
    background,
    stream,
    output: options.output && outputRequest(options.output),
    limits: options.limits,
  };
}

const outputRequest = (output: OutputOptions): RequestInput<'execute_command'>['output'] => ({
  max_size: output.maxSize,
  begin_size: output.beginSize,
  end_size: output.endSize,
  encoding: output.encoding,
  strip_ansi: output.stripAnsi,
  collapse_cr: output.collapseCr,
});

/** A decision over something that waits for its confirmation. */
export interface Decision {
  readonly decision: 'approve' | 'reject';
  /** `command_sha256` of what is meant. Needed to approve what this client has asked for itself. */
  readonly commandSha256?: string | undefined;
  /** Why. Likewise. */
  readonly justification?: string | undefined;
}

import type { CommandInput, RequestInput } from '../core/protocol/requests.js';
import type { CommandResult } from '../core/protocol/results.js';
import type { SandboxProfile } from '../core/sandbox-profiles.js';

/**
 * Standard input that is streamed while the command runs: a Node.js or web stream, or a generator, of bytes or text.
 */
export type InputSource = AsyncIterable<Uint8Array | string>;

/** The source to stream to a command; undefined for text, which is part of the request. */
export function inputSource(stdin: string | Uint8Array | InputSource | undefined): InputSource | undefined {
  if (stdin === undefined || typeof stdin === 'string') return undefined;
  return stdin instanceof Uint8Array ? once(stdin) : stdin;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}

/** Options of `attachSession`. */
export interface AttachOptions {
  /**
   * The first event wanted.
   * @default only new events
   */
  readonly fromSeq?: number | undefined;
  /**
   * Observe only: commands never wait for this client, and output above this rate is skipped, oldest first. At least
   * 65,536.
   * @default all output
   */
  readonly maxBytesPerSecond?: number | undefined;
}

/** Options of `connect`. */
export interface ConnectOptions {
  /**
   * Transports, in the order of the attempts.
   * @default ['websocket']
   */
  readonly transports?: readonly ('websocket' | 'polling')[];
  /**
   * Whether a lost connection is restored, with all sessions and commands.
   * @default true
   */
  readonly reconnect?: boolean;
  /**
   * Time-out of connecting, in milliseconds.
   * @default 5000
   */
  readonly connectTimeoutMs?: number;
  /**
   * Time-out of an answer, in milliseconds; `Infinity` for no limit. Requests that run commands, ask LLMs, wait for
   * something, or are about files and the workspace have no limit by default: the daemon answers when the work is done, or
   * its own time-out ends it.
   * @default 30000
   */
  readonly requestTimeoutMs?: number;
  /**
   * How long to try to restore a lost connection, in milliseconds; `Infinity` for no limit.
   * @default 30000
   */
  readonly reconnectTimeoutMs?: number;
  /**
   * Pause before the first attempt to reconnect, in milliseconds; it doubles up to 2 s.
   * @default 100
   */
  readonly reconnectDelayMs?: number;
  /**
   * Token for authentication, see `shell-adapter token`. Not required for programs of the daemon's own user.
   * @default none
   */
  readonly token?: string | undefined;
  /**
   * Called for each request: returns the trace that it belongs to, as the header `traceparent` of the W3C's trace context
   * names it. Needs a daemon that knows traces.
   * @default none
   */
  readonly traceparent?: (() => string | undefined) | undefined;
}

type Optional = 'token' | 'traceparent';

/** The options with their defaults applied. */
export type ConnectSettings = Required<Omit<ConnectOptions, Optional>> & Pick<ConnectOptions, Optional>;

/** Applies the defaults. */
export const connectSettings = ({
  transports = ['websocket'],
  reconnect = true,
  connectTimeoutMs = 5000,
  requestTimeoutMs = 30_000,
  reconnectTimeoutMs = 30_000,
  reconnectDelayMs = 100,
  token,
  traceparent,
}: ConnectOptions): ConnectSettings => ({
  transports,
  reconnect,
  connectTimeoutMs,
  requestTimeoutMs,
  reconnectTimeoutMs,
  reconnectDelayMs,
  token,
  traceparent,
});

/** Options of a single request. */
export interface RequestOptions {
  /** Aborting it rejects the request at once with the signal's reason; the daemon may or may not have processed it. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Time-out of the answer, in milliseconds; `Infinity` for no limit.
   * @default that of the client
   */
  readonly timeoutMs?: number | undefined;
}

/** Options of a new session. */
export type OpenSessionOptions = RequestInput<'open_session'>;

/** How output is returned in a result. Sizes and the length of a line are in characters; the defaults are in the daemon's configuration. */
export interface OutputOptions {
  readonly maxSize?: number | undefined;
  readonly beginSize?: number | undefined;
  readonly endSize?: number | undefined;
  readonly maxLines?: number | undefined;
  readonly beginLines?: number | undefined;
  readonly endLines?: number | undefined;
  readonly maxLineLength?: number | undefined;
  readonly encoding?: CommandResult['encoding'] | undefined;
  readonly stripAnsi?: boolean | undefined;
  readonly collapseCr?: boolean | undefined;
  /** Everything is stdout, in the exact order in which it was written to either stream. */
  readonly merge?: boolean | undefined;
}

/** Options of a command. Times are in milliseconds. */
export interface ExecuteOptions {
  /** Run the command as a program with exactly these arguments, without shell parsing. */
  readonly args?: readonly string[] | undefined;
  /** Directory of this command only. */
  readonly cwd?: string | undefined;
  /** Variables of this command only. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /**
   * Standard input of any size: text, or an iterable of bytes or text that is read while the command runs, such as a
   * Node.js stream. A source that fails ends the command. Default: the session's terminal; no input for a command
   * without a session.
   */
  readonly stdin?: string | Uint8Array | InputSource | undefined;
  /** Time limit of the command. Default: the daemon's `command_timeout`. */
  readonly timeoutMs?: number | undefined;
  /** Time limit without output. Default: no limit. */
  readonly noOutputTimeoutMs?: number | undefined;
  /**
   * Connect stdout and stderr to a terminal; both are returned as stdout.
   * @default false
   */
  readonly tty?: boolean | undefined;
  /** A stricter sandbox than the configured one, for a command without a session. */
  readonly sandbox?: SandboxProfile | undefined;
  /**
   * Return at once with `status: 'running'`; `wait()` returns the end.
   * @default false
   */
  readonly background?: boolean | undefined;
  readonly output?: OutputOptions | undefined;
  /** Resource limits under their protocol names. They can only be lower than the configured ones. */
  readonly limits?: CommandInput['limits'];
  /** Id of the command; must be unique. Default: 128 random bits. */
  readonly commandId?: string | undefined;
  /**
   * Allow iterating the output while the command runs.
   * @default false
   */
  readonly stream?: boolean | undefined;
  /** Aborting it ends the command: SIGINT, then SIGTERM, then SIGKILL, a second apart. */
  readonly signal?: AbortSignal | undefined;
}

/** Context in which a command is checked. */
export interface CheckOptions {
  /** See `ExecuteOptions`. */
  readonly args?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  /** The session whose directory, aliases and functions apply. Default: none. */
  readonly sessionId?: string | undefined;
}

/** Builds the wire format of a request for a command. */
export function executeRequest(
  command: string,
  options: ExecuteOptions,
  ids: { readonly commandId: string; readonly sessionId: string | null },
): CommandInput & { readonly command_id: string } {
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

/** The same names in snake case. */
const outputRequest = (output: OutputOptions): CommandInput['output'] =>
  Object.fromEntries(
    Object.entries(output).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );

/** A decision on a pending confirmation. */
export interface Decision {
  readonly decision: 'approve' | 'reject';
  /** `command_sha256` of the command or input. Required to approve a request of this client itself. */
  readonly commandSha256?: string | undefined;
  /** Reason of the decision. Required in the same case. */
  readonly justification?: string | undefined;
  /**
   * Remembers an approval for the same command later: until the session ends, for 60 minutes, or until it is revoked.
   * @default only this once
   */
  readonly remember?: 'session' | 'hour' | 'always' | undefined;
}

/**
 * State of the connection: `lost` while the client tries to reconnect, `closed` when it has given up or was closed.
 * `restarted` follows a reconnection to another run of the daemon: the sessions and commands of the earlier run no
 * longer exist.
 */
export type ConnectionState = 'connected' | 'lost' | 'restarted' | 'closed';

import type { Principal } from '../../core/principal.js';
import { AdapterError } from '../../core/errors.js';
import type { PolicyVerdict } from '../../core/policy/policy.js';
import type { CommandClass } from '../../core/policy/model.js';
import type { Answer, CommandRequest, Request, TypedInput } from '../../core/protocol/requests.js';
import { type CommandInfo, type CommandResult, MAX_LISTED_COMMAND } from '../../core/protocol/results.js';
import type { SignalName } from '../../core/signals.js';
import type { Command } from '../../engine/command/command.js';
import { type EndReason, killOf, type Warning } from '../../engine/command/outcome.js';
import { NOTHING_USED } from '../../engine/command/resource-use.js';
import type { OutputStream } from '../../engine/output/output-stream.js';
import type { ReportedProcess } from '../../engine/process/background-processes.js';
import type { OutputChannel } from './output-channel.js';
import { renderKill, renderUse } from './rendered-limits.js';
import type { SessionRecord } from './session-registry.js';

interface OutputStyle {
  readonly encoding: 'utf8' | 'base64';
  readonly stripAnsi: boolean;
  readonly collapseCr: boolean;
}

/** Where a command runs: in a session, or in a process of its own. */
interface CommandHost {
  /** The session that has its terminal, also that of a one-shot; undefined for a process of its own. */
  readonly session: SessionRecord | undefined;
  /** Receives its output for the clients that follow; undefined where none does. */
  readonly channel: OutputChannel | undefined;
  /** Sends a signal; resolves with the processes that got it. */
  readonly signal: (signal: SignalName) => Promise<ReportedProcess[]>;
  /** Ends it with all its processes, or takes it out of the queue. */
  readonly end: (reason: EndReason) => void;
}

/** A command known to the daemon: running, or ended and still kept. */
export interface CommandRecord {
  readonly command: Command;
  /** The owner of its session, or the requester of a one-shot. */
  readonly owner: Principal;
  readonly sessionId: string | null;
  readonly style: OutputStyle;
  /** Distinguishes a repeated request from a different one with the same id: see `fingerprintOf`. */
  readonly request: CommandRequest;
  /** Warnings from before the command ran. */
  readonly warnings: readonly Warning[];
  /** The checkpoint that was saved before the command ran. */
  readonly checkpointId: string | undefined;
  /** The confirmation that allowed it; undefined without one. */
  readonly confirmationId?: string | undefined;
  /** Class of the policy's verdict; undefined when it was not judged. */
  readonly commandClass?: CommandClass | undefined;
  /** Undefined before it is started, and for a one-shot that has ended. */
  host?: CommandHost | undefined;
}

/** Identifies the content of a request, for idempotence: all fields that affect what would run. */
export function fingerprintOf(request: CommandRequest): string {
  const { command, args, session_id, cwd, env, stdin, stdin_stream, limits, sandbox, output } = request;
  return JSON.stringify([command, args, session_id, cwd, env, stdin, stdin_stream, limits, sandbox, output?.merge]);
}

export const styleOf = (output: CommandRequest['output']): OutputStyle => ({
  encoding: output?.encoding ?? 'utf8',
  stripAnsi: output?.strip_ansi ?? false,
  collapseCr: output?.collapse_cr ?? false,
});

/** What a result says of a command that has not ended. */
const soFar = ({ meter, ageMs }: Command) =>
  ({
    exitCode: null,
    status: 'running',
    signal: null,
    killedBy: null,
    breach: null,
    killedPids: [],
    use: meter.use,
    durationMs: ageMs,
    workingDirectory: null,
    sessionState: 'alive',
    backgroundProcesses: [],
    survivors: [],
    warnings: [],
  }) as const;

/** Renders the current result of a command for the wire. */
export function renderResult({ command, sessionId, style, warnings, checkpointId }: CommandRecord): CommandResult {
  const { stdout, stderr } = command;
  const outcome = command.outcome ?? soFar(command);
  const hint = (stream: string) => `read_output of command_id "${command.id}", stream "${stream}", has all`;
  const out = stdout.render({ hint: hint('stdout'), ...style });
  const err = stderr.render({ hint: hint('stderr'), ...style });
  const kill = killOf(outcome);
  return {
    stdout: out.text,
    stderr: err.text,
    exit_code: outcome.exitCode,
    original_stdout_size: stdout.characters,
    original_stderr_size: stderr.characters,
    ...linesOf(stdout, stderr),
    command_id: command.id,
    session_id: sessionId,
    status: outcome.status,
    signal: outcome.signal,
    timed_out: outcome.status === 'timed_out',
    killed_by: outcome.killedBy,
    limit: kill ? renderKill(kill) : null,
    resource_usage: renderUse(outcome.use),
    duration_ms: Math.round(outcome.durationMs * 1000) / 1000,
    working_directory: outcome.workingDirectory,
    stdout_truncated: out.truncated,
    stderr_truncated: err.truncated,
    stdout_bytes: stdout.bytes,
    stderr_bytes: stderr.bytes,
    encoding: style.encoding,
    lossy: isLossy(style, stdout, stderr),
    session_state: sessionId === null ? null : (outcome.sessionState ?? 'alive'),
    background_processes: [...outcome.backgroundProcesses],
    ...(outcome.survivors.length > 0 && { survivors: [...outcome.survivors] }),
    ...spoolErrorOf(stdout, stderr),
    warnings: [...warnings, ...outcome.warnings],
    ...(checkpointId !== undefined && { checkpoint_id: checkpointId }),
  };
}

const linesOf = ({ lines: out }: OutputStream, { lines: err }: OutputStream) => ({
  ...(out !== undefined && { original_stdout_lines: out }),
  ...(err !== undefined && { original_stderr_lines: err }),
});

const isLossy = ({ encoding }: OutputStyle, ...outputs: readonly OutputStream[]): boolean =>
  encoding === 'utf8' && outputs.some(({ lossy }) => lossy);

function spoolErrorOf(stdout: OutputStream, stderr: OutputStream): { readonly spool_error?: string } {
  const error = stdout.spoolError ?? stderr.spoolError;
  return error === undefined ? {} : { spool_error: error };
}

/** The facts in a result about a command that has not started, and may never start. */
interface UnstartedCommand {
  readonly commandId: string;
  readonly sessionId: string | null;
  readonly directory: string;
}

/** Renders the result of what has no output: a command that was not or not yet confirmed, or another kind of action. */
export function renderUnstarted(
  { commandId, sessionId, directory }: UnstartedCommand,
  status: 'confirmation_required' | 'denied' | 'completed',
): CommandResult {
  return {
    stdout: '',
    stderr: '',
    exit_code: null,
    original_stdout_size: 0,
    original_stderr_size: 0,
    command_id: commandId,
    session_id: sessionId,
    status,
    signal: null,
    timed_out: false,
    killed_by: null,
    limit: null,
    resource_usage: renderUse(NOTHING_USED),
    duration_ms: 0,
    working_directory: directory,
    stdout_truncated: false,
    stderr_truncated: false,
    stdout_bytes: 0,
    stderr_bytes: 0,
    encoding: 'utf8',
    lossy: false,
    session_state: sessionId === null ? null : 'alive',
    background_processes: [],
    warnings: [],
  };
}

/**
 * Describes a command without its output, for lists and events.
 * @param node name of this node of a cluster; undefined for a daemon alone
 */
export function describeCommand(record: CommandRecord, node: string | undefined): CommandInfo {
  const { command, owner, sessionId, warnings } = record;
  const { spec, stdout, stderr, startedAt, endedAt } = command;
  const outcome = command.outcome ?? soFar(command);
  const kill = killOf(outcome);
  return {
    command_id: command.id,
    session_id: sessionId,
    ...(node !== undefined && { node }),
    owner: owner.name,
    command: spec.command.slice(0, MAX_LISTED_COMMAND),
    ...(spec.args && { args: shortened(spec.args) }),
    state: stateOf(command),
    status: outcome.status,
    exit_code: outcome.exitCode,
    signal: outcome.signal,
    killed_by: outcome.killedBy,
    limit: kill ? renderKill(kill) : null,
    accepted_at: command.acceptedAt.toISOString(),
    started_at: timeOf(startedAt),
    ended_at: timeOf(endedAt),
    duration_ms: Math.round(outcome.durationMs),
    working_directory: outcome.workingDirectory ?? spec.cwd ?? null,
    stdout_bytes: stdout.bytes,
    stderr_bytes: stderr.bytes,
    tty: spec.tty,
    ...admissionOf(record),
    resource_usage: renderUse(outcome.use),
    warnings: [...warnings, ...outcome.warnings],
  };
}

/** What is known of the admission of a command. */
const admissionOf = ({ commandClass, confirmationId, checkpointId }: CommandRecord) => ({
  ...(commandClass !== undefined && { class: commandClass }),
  ...(confirmationId !== undefined && { confirmation_id: confirmationId }),
  ...(checkpointId !== undefined && { checkpoint_id: checkpointId }),
});

const timeOf = (time: Date | undefined): string | null => time?.toISOString() ?? null;

function stateOf({ outcome, hasStarted }: Command): CommandInfo['state'] {
  if (outcome) return 'ended';
  return hasStarted ? 'running' : 'queued';
}

/** The first arguments, up to the length of a listed command. */
function shortened(args: readonly string[]): string[] {
  const kept: string[] = [];
  let left = MAX_LISTED_COMMAND;
  for (const arg of args) {
    if (left <= 0) break;
    kept.push(arg.slice(0, left));
    left -= arg.length + 1;
  }
  return kept;
}

/** The error for another command with an id in use. */
export const usedId = (id: string): AdapterError =>
  new AdapterError('INVALID_REQUEST', `command_id ${id} belongs to another command; choose a new one`, {
    details: { field: 'command_id' },
  });

/** The error for a repeated request whose result is no longer kept. */
export const forgotten = (id: string): AdapterError =>
  new AdapterError('COMMAND_NOT_FOUND', `command ${id} has run, and its result is no longer kept`, {
    details: { command_id: id },
  });

/**
 * Checks that input for a terminal is text.
 * @throws AdapterError NO_RUNNING_COMMAND for bytes, and for fields of streamed inputs
 */
export function textOf({ offset, data, ...rest }: Request<'send_input'>): TypedInput {
  if (offset === undefined && (data === undefined || typeof data === 'string')) return { ...rest, data };
  const field = offset === undefined ? 'data' : 'offset';
  const what = field === 'data' ? 'bytes' : 'an offset';
  const message = `${what} can be sent only to a command that was run with stdin_stream and has not ended`;
  throw new AdapterError('NO_RUNNING_COMMAND', message, { details: { field } });
}

/** The error for typed input to a command without a terminal. */
export const noTerminal = (): AdapterError =>
  new AdapterError(
    'NO_RUNNING_COMMAND',
    'a one-shot command has no terminal: give `stdin` or `stdin_stream`, or use a session',
  );

/**
 * Checks that the bytes from `offset` on are kept.
 * @throws AdapterError OUTPUT_EXPIRED when the stream has bytes from `offset` on, but they were not kept
 */
export function assertKept({ bytes, spool }: OutputStream, offset: number): void {
  const { keptBytes } = spool;
  if (offset < keptBytes || offset >= bytes) return;
  throw new AdapterError('OUTPUT_EXPIRED', `only the first ${keptBytes} of ${bytes} bytes were kept`, {
    details: { kept_bytes: keptBytes, size: bytes, why: spool.error ?? '' },
  });
}

/** Longest reason on the wire, in characters. */
const MAX_REASON_LENGTH = 500;

/** Renders the commands of a verdict for the wire. */
export const judgedCommands = (commands: PolicyVerdict['commands']): Answer<'check_command'>['commands'] =>
  commands.map((command) => ({
    command: command.text,
    program: command.program ?? null,
    action: command.action,
    class: command.class,
    reasons: command.reasons.map(shortReason),
  }));

/** Truncates a reason that is too long for the wire. */
export const shortReason = (reason: string): string =>
  reason.length > MAX_REASON_LENGTH ? `${reason.slice(0, MAX_REASON_LENGTH)}…` : reason;

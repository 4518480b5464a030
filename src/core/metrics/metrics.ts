import type { ConfirmationMode } from '../confirmation/modes.js';
import type { ConfirmationOutcome } from '../confirmation/record.js';
import type { ErrorCode } from '../errors.js';
import type { Candidate } from '../llm/resolution.js';
import type { LlmUsage } from '../llm/usage.js';
import type { Resource } from '../limits/limits.js';
import type { OutputStreamName } from '../protocol/fields.js';
import type { RequestName } from '../protocol/requests.js';
import type { CommandResult, SessionEndReason } from '../protocol/results.js';

/** Where a command runs: in a session, or in an environment of its own. */
export const COMMAND_KINDS = ['session', 'one_shot'] as const;
export type CommandKind = (typeof COMMAND_KINDS)[number];

/** How a command can end. */
export const COMMAND_ENDS = [
  'completed',
  'timed_out',
  'interrupted',
  'killed',
] as const satisfies CommandResult['status'][];
export type CommandEndStatus = (typeof COMMAND_ENDS)[number];

/** Why a session got a new shell: the old one had ended, or a client asked for it. */
export const SHELL_REPLACEMENTS = ['ended', 'reset'] as const;
export type ShellReplacement = (typeof SHELL_REPLACEMENTS)[number];

/**
 * Where the layers below the transports count what they do. Every method returns at once and never throws. What can be
 * counted is a name out of a short list: ids and texts of clients have no place here, so that there are never more figures.
 */
export interface Metrics {
  /** A session was opened, with a shell of this name. */
  sessionOpened(shell: string): void;
  /** A session has ended. */
  sessionClosed(reason: SessionEndReason): void;
  /** A session goes on with a new shell. */
  shellReplaced(why: ShellReplacement): void;
  /** A command has ended, this many milliseconds after its start. */
  commandEnded(kind: CommandKind, status: CommandEndStatus, durationMs: number): void;
  /** Its CPU time, in milliseconds. */
  commandUsed(cpuMs: number): void;
  /** A command was killed because it exceeded a limit. */
  limitExceeded(resource: Resource): void;
  /** A confirmation no longer waits. */
  confirmationEnded(mode: ConfirmationMode, outcome: ConfirmationOutcome): void;
  /** A request has its answer, this many milliseconds after it came. `unknown` stands for every name that is none. */
  requestAnswered(request: RequestName | 'unknown', outcome: 'ok' | ErrorCode, durationMs: number): void;
  /** An LLM provider has answered, or failed, this many milliseconds after it was asked. */
  llmAnswered(provider: Candidate, outcome: 'ok' | ErrorCode, durationMs: number): void;
  /** Tokens of an answer, as far as the provider tells. */
  llmUsed(provider: Candidate, usage: LlmUsage): void;
  /** Bytes that commands have printed. */
  readonly output: OutputMeters;
}

/** Take the bytes of a piece of output, one for each stream. */
export type OutputMeters = Readonly<Record<OutputStreamName, (bytes: number) => void>>;

const nothing = () => undefined;

/** Counts nothing. */
export const NO_METRICS: Metrics = {
  sessionOpened: nothing,
  sessionClosed: nothing,
  shellReplaced: nothing,
  commandEnded: nothing,
  commandUsed: nothing,
  limitExceeded: nothing,
  confirmationEnded: nothing,
  requestAnswered: nothing,
  llmAnswered: nothing,
  llmUsed: nothing,
  output: { stdout: nothing, stderr: nothing },
};

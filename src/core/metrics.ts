import type { ConfirmationMode, ConfirmationOutcome } from './confirmation.js';
import type { ErrorCode } from './errors.js';
import type { Resource } from './limits.js';
import type { LlmUsage } from './llm/answer.js';
import type { Candidate } from './llm/resolution.js';
import type { NotificationEvent } from './notifications.js';
import type { OutputStreamName } from './protocol/fields.js';
import type { RequestName } from './protocol/requests.js';
import type { CommandResult, SessionEndReason } from './protocol/results.js';

/** Target of a command: a session, or a one-shot process. */
export const COMMAND_KINDS = ['session', 'one_shot'] as const;

/** The target of a command. */
export type CommandKind = (typeof COMMAND_KINDS)[number];

/** Possible ends of a command. */
export const COMMAND_ENDS = [
  'completed',
  'timed_out',
  'interrupted',
  'killed',
] as const satisfies CommandResult['status'][];

/** The end of a command. */
export type CommandEndStatus = (typeof COMMAND_ENDS)[number];

/** Reasons for which a session got a new shell: the old one had ended, or a client asked for it. */
export const SHELL_REPLACEMENTS = ['ended', 'reset'] as const;

/** The reason for which a session got a new shell. */
export type ShellReplacement = (typeof SHELL_REPLACEMENTS)[number];

/**
 * Counters for the layers below the transports. Every method returns at once and never throws. Label values come from
 * fixed short lists; ids and texts of clients are not used as labels, so that the number of time series stays bounded.
 */
export interface Metrics extends EgressMetrics, ClusterMetrics {
  /** Counts an opened session, by the name of its shell. */
  sessionOpened(shell: string): void;
  /** Counts an ended session. */
  sessionClosed(reason: SessionEndReason): void;
  /** Counts a session that continues with a new shell. */
  shellReplaced(why: ShellReplacement): void;
  /** Counts an ended command with its duration in milliseconds. */
  commandEnded(kind: CommandKind, status: CommandEndStatus, durationMs: number): void;
  /** Adds the CPU time of a command, in milliseconds. */
  commandUsed(cpuMs: number): void;
  /** Counts a command that was killed because it exceeded a limit. */
  limitExceeded(resource: Resource): void;
  /** Counts a confirmation that is no longer pending. */
  confirmationEnded(mode: ConfirmationMode, outcome: ConfirmationOutcome): void;
  /** Counts an answered request with its duration in milliseconds. `unknown` stands for every invalid request name. */
  requestAnswered(request: RequestName | 'unknown', outcome: 'ok' | ErrorCode, durationMs: number): void;
  /** Counts a connection, or a request before its body was read, that was refused. */
  connectionRefused(code: ErrorCode): void;
  /** Counts an answer or failure of an LLM provider, with the duration of the call in milliseconds. */
  llmAnswered(provider: Candidate, outcome: 'ok' | ErrorCode, durationMs: number): void;
  /** Adds the tokens of an answer, as far as the provider reports them. */
  llmUsed(provider: Candidate, usage: LlmUsage): void;
  /** Counts a notification to a webhook that was delivered or given up. */
  notificationEnded(event: NotificationEvent, outcome: NotificationOutcome): void;
  /** Counts an error that nothing has caught. */
  errorUncaught(): void;
  /** Counters of the bytes that commands print. */
  readonly output: OutputMeters;
}

/** What became of a notification to a webhook. */
export const NOTIFICATION_OUTCOMES = ['delivered', 'failed', 'dropped'] as const;

/** The outcome of a notification: `dropped` when it was pushed out of a full queue, or the daemon was stopped. */
export type NotificationOutcome = (typeof NOTIFICATION_OUTCOMES)[number];

/** What became of a connection that a program in a sandbox with an allow-list wanted. */
export const EGRESS_OUTCOMES = ['allowed', 'refused', 'failed'] as const;

/** The outcome of a connection out of a sandbox: `failed` when it was allowed and nothing answered. */
export type EgressOutcome = (typeof EGRESS_OUTCOMES)[number];

/** Counters of connections out of sandboxes with an allow-list. */
export interface EgressMetrics {
  /** Counts a connection. */
  egressConnected(outcome: EgressOutcome): void;
  /** Adds the bytes of an ended connection. */
  egressTransferred(sentBytes: number, receivedBytes: number): void;
}

/** Counters of a node of a cluster. */
export interface ClusterMetrics {
  /** Counts a request that was sent on to a worker, with the time until its answer in milliseconds. */
  requestRelayed(outcome: 'ok' | ErrorCode, durationMs: number): void;
  /** Counts a worker that was lost, with what ran on it. */
  nodeLost(): void;
  /** Counts a request to the registry that has failed. */
  registryFailed(): void;
}

/** Counters of output bytes, one for each stream. */
export type OutputMeters = Readonly<Record<OutputStreamName, (bytes: number) => void>>;

const noop = () => undefined;

/** A `Metrics` without any effect. */
export const NO_METRICS: Metrics = {
  sessionOpened: noop,
  sessionClosed: noop,
  shellReplaced: noop,
  commandEnded: noop,
  commandUsed: noop,
  limitExceeded: noop,
  confirmationEnded: noop,
  requestAnswered: noop,
  connectionRefused: noop,
  llmAnswered: noop,
  llmUsed: noop,
  notificationEnded: noop,
  errorUncaught: noop,
  egressConnected: noop,
  egressTransferred: noop,
  requestRelayed: noop,
  nodeLost: noop,
  registryFailed: noop,
  output: { stdout: noop, stderr: noop },
};

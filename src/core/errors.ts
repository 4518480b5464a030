/**
 * All error codes for clients, each with the sentence that documents it. Codes are never renamed or reused:
 * `test/unit/core/errors.test.ts` pins the list in both directions.
 */
export const ERROR_CODES = {
  INVALID_REQUEST: 'The request does not fit its schema, or asks for what the configuration does not allow.',
  UNKNOWN_REQUEST: 'There is no request of that name.',
  SESSION_NOT_FOUND: 'No such session, or it has ended: `details` says why and when, for ten minutes.',
  COMMAND_NOT_FOUND: 'No such command, or its record has been dropped to bound memory.',
  SESSION_BUSY: "The session's queue is full; `details.running_command_id` names what it is doing.",
  SESSION_LIMIT: 'As many sessions or one-shot commands as the configuration allows are open, or as a token may have.',
  NO_RUNNING_COMMAND: 'Nothing runs there that could take the input or the signal.',
  INPUT_FULL: 'The program does not read its input and the buffer for it is full; nothing of this request was taken.',
  SHELL_NOT_FOUND: 'The shell is not installed, or is not one that the adapter can drive.',
  SHELL_FAILED: 'The shell could not be started, or did not answer in time.',
  COMMAND_DENIED:
    'The policy does not let it run, or its confirmation was refused: `details` has action, class and reasons.',
  CONFIRMATION_NOT_FOUND:
    'Nothing of that id waits for a confirmation of this client: it was decided, has expired, or belongs to another token.',
  CONFIRMATION_MISMATCH:
    'What was confirmed is not what waits, or not what it would be now: the directory, or the meaning of its names. Nothing ran.',
  SANDBOX_UNAVAILABLE:
    'The sandbox profile that was asked for, or that the configuration requires, does not work here: the message says why.',
  BAD_DIRECTORY: 'The directory does not exist, is not a directory, or may not be entered.',
  OUTPUT_EXPIRED: 'That part of the output was not kept: `details` says which part is still there.',
  RESOURCE_EXHAUSTED: 'The machine is out of processes, descriptors, terminals, memory or disk space. Try again later.',
  CHECKPOINT_NOT_FOUND: 'No such checkpoint of this workspace, or it has made room for newer ones.',
  CHECKPOINT_TOO_LARGE:
    'The workspace has more files or bytes than a checkpoint may have: `details` names the limit. Nothing was changed.',
  CHECKPOINT_FAILED: 'Saving or comparing the workspace failed; the message says why. The workspace was not changed.',
  RESTORE_FAILED: 'The workspace could not be restored and is as it was before, unless `details.rolled_back` is false.',
  GIT_NOT_FOUND: 'Checkpoints are made with git, which is not installed or cannot be run.',
  PAYLOAD_TOO_LARGE:
    'The message is larger than `max_message_bytes` of the configuration: `details` says how large both are.',
  UNAUTHORIZED: 'Authentication failed: the token is missing or wrong, or it was revoked, replaced, or has expired.',
  FORBIDDEN: 'The role of the token may not do that: `details.needs` has those that may.',
  RATE_LIMITED:
    'The token has made too many requests: `details.retry_after_ms` says when it may make the next one. Or too many wrong tokens were shown.',
  PROVIDER_NOT_FOUND: 'There is no LLM provider of that name: `details` lists those that there are.',
  LLM_UNAVAILABLE:
    'The LLM provider cannot be asked: its tool is not installed or switched off, or its service is not configured or not reached.',
  LLM_AUTH: 'The LLM provider does not know who asks: its tool is not logged in, or its key is missing or wrong.',
  LLM_RATE_LIMITED: 'The LLM provider takes no more for now, or as many calls as the configuration allows wait for it.',
  LLM_MODEL_NOT_FOUND: 'The LLM provider has no such model.',
  LLM_PROMPT_TOO_LARGE: 'The messages are larger than the LLM provider takes: `details` says what it takes.',
  LLM_TIMEOUT: 'The LLM provider did not answer in time. Everything that its tool had started has been ended.',
  LLM_LIMIT_EXCEEDED:
    'The run of a tool exceeded a limit of the section `llm` and was ended: `details` has `killed_by`, `limit` and `resource_usage`.',
  LLM_EMPTY: 'The LLM provider answered nothing.',
  LLM_FAILED: 'The LLM provider failed: `details.detail` is what it said.',
  LLM_CANCELLED: 'The call was cancelled. Everything that a tool had started for it has been ended.',
  SHUTTING_DOWN: 'The daemon is ending and takes no new work.',
  INTERNAL: 'Internal error. The session and the daemon go on; the log has the details.',
} as const;

/** An error code of the catalogue. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** Facts about an error in wire format: snake_case keys, JSON values. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

/** An error in wire format. */
export interface ErrorBody {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: ErrorDetails;
}

/** The only error class of the adapter. An expected outcome (exit code, time-out) is a value, never an error. */
export class AdapterError extends Error {
  override readonly name = 'AdapterError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails | undefined;

  constructor(code: ErrorCode, message: string, options: { details?: ErrorDetails; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details;
  }

  /** The error in wire format, inside `{ error: … }`. */
  toBody(): ErrorBody {
    return { code: this.code, message: this.message, ...(this.details && { details: this.details }) };
  }
}

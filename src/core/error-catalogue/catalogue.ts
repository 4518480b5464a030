import { CLUSTER_ERRORS } from './cluster-errors.js';
import { defineErrors } from './entry.js';
import { FILE_ERRORS } from './file-errors.js';
import { LLM_ERRORS } from './llm-errors.js';
import { PORT_ERRORS } from './port-errors.js';

/**
 * All error codes for clients. Codes are never renamed or reused: `test/unit/core/errors.test.ts` pins the list in both
 * directions.
 */
export const ERROR_CATALOGUE = defineErrors({
  INVALID_REQUEST: {
    meaning: 'The request does not match its schema, or asks for something that the configuration does not allow.',
    status: 400,
    retry: 'changed',
    next: 'Correct the field that `details.field` names.',
  },
  UNKNOWN_REQUEST: {
    meaning: 'There is no request of that name.',
    status: 404,
    retry: 'changed',
    next: 'Use a request of the wire protocol. An older daemon may not have it yet.',
  },
  METHOD_NOT_ALLOWED: {
    meaning: 'The path takes another HTTP method.',
    status: 405,
    retry: 'changed',
    next: 'Use the method that the header `Allow` names.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    meaning: 'The `Idempotency-Key` belongs to an earlier request with another body. Nothing ran.',
    status: 422,
    retry: 'changed',
    next: 'Take a new key for each new request.',
  },
  SESSION_NOT_FOUND: {
    meaning: 'No such session, or it has ended: `details` says why and when, for a day.',
    status: 404,
    retry: 'changed',
    next: 'Open another session. The state of the old one is lost.',
  },
  COMMAND_NOT_FOUND: {
    meaning: 'No such command, or its record has been dropped to bound memory.',
    status: 404,
    retry: 'check',
    next: 'Look at what the command has done, then run it again under a new `command_id`.',
  },
  SESSION_BUSY: {
    meaning: "The session's queue is full; `details.running_command_id` names what it is doing.",
    status: 409,
    retry: 'later',
    next: 'Wait for that command with `wait_command`, or open another session.',
  },
  SESSION_LIMIT: {
    meaning: 'The limit on sessions or one-shot commands is reached: that of the configuration, or that of the token.',
    status: 503,
    retry: 'later',
    next: 'Close a session, wait for a command, or raise the limit that `details` names.',
  },
  NO_RUNNING_COMMAND: {
    meaning: 'No running command can take the input or the signal.',
    status: 409,
    retry: 'changed',
    next: 'Take the result with `wait_command`; start a command before you send it input.',
  },
  INPUT_FULL: {
    meaning: 'The program does not read its input and the buffer for it is full; nothing of this request was taken.',
    status: 409,
    retry: 'later',
    next: 'Wait until the program reads, and for the answer to each chunk before you send many more.',
  },
  SHELL_NOT_FOUND: {
    meaning: 'The shell is not installed, or is not one that the adapter can drive.',
    status: 400,
    retry: 'changed',
    next: 'Install the shell, or name another one. `shell-adapter doctor` lists those that work.',
  },
  SHELL_FAILED: {
    meaning: 'The shell could not be started, or did not answer in time.',
    status: 500,
    retry: 'later',
    next: 'Run `shell-adapter doctor`, and look at the startup files that the message shows.',
  },
  COMMAND_DENIED: {
    meaning: 'The policy denies the command, or its confirmation was refused: `details` has action, class and reasons.',
    status: 403,
    retry: 'changed',
    next: 'Do it another way, ask the user, or change the policy.',
  },
  CONFIRMATION_NOT_FOUND: {
    meaning:
      'No confirmation of that id is open for this client: it was decided, has expired, or belongs to another token.',
    status: 404,
    retry: 'changed',
    next: 'Send the command again, and confirm it before `expires_at`.',
  },
  CONFIRMATION_MISMATCH: {
    meaning:
      'The confirmed command differs from the stored one, or the session has changed: its directory, or the meaning of names. Nothing ran.',
    status: 409,
    retry: 'changed',
    next: 'Check `command_sha256`, or send the command again and confirm what is shown then.',
  },
  APPROVAL_NOT_FOUND: {
    meaning: 'No remembered approval of that id is visible to this client: it was revoked, or has expired.',
    status: 404,
    retry: 'changed',
    next: 'Look at `list_remembered_approvals`.',
  },
  APPROVALS_UNAVAILABLE: {
    meaning:
      'The file with the approvals that are remembered for good is damaged or cannot be written; `details.file` names it.',
    status: 500,
    retry: 'changed',
    next: 'Repair or remove the file, and start the daemon again. `shell-adapter doctor` says what is wrong.',
  },
  SANDBOX_UNAVAILABLE: {
    meaning: 'The requested or required sandbox profile does not work on this machine: the message says why.',
    status: 503,
    retry: 'changed',
    next: 'Install bubblewrap or allow user namespaces. `shell-adapter doctor` says what is missing.',
  },
  USER_UNAVAILABLE: {
    meaning:
      'The token has a user of its own (`token create --run-as`), and nothing can be run as that user: the message says why.',
    status: 503,
    retry: 'changed',
    next: 'Run the daemon as root, create the user again, or use another token.',
  },
  BAD_DIRECTORY: {
    meaning: 'The directory does not exist, is not a directory, or may not be entered.',
    status: 400,
    retry: 'changed',
    next: 'Name a directory that exists on the machine of the daemon.',
  },
  OUTPUT_EXPIRED: {
    meaning: 'That part of the output was not kept: `details` says which part is still there.',
    status: 410,
    retry: 'changed',
    next: 'Read another offset, or run the command again with its output in a file.',
  },
  RESOURCE_EXHAUSTED: {
    meaning:
      'The machine is out of processes, descriptors, terminals, memory or disk space, or too many connections are open. Try again later.',
    status: 503,
    retry: 'later',
    next: 'Wait some seconds, or free what the message names.',
  },
  RECORDING_NOT_FOUND: {
    meaning: 'No such recording, or it was deleted to make room for newer ones.',
    status: 404,
    retry: 'changed',
    next: 'Take an id from `list_recordings`.',
  },
  CHECKPOINT_NOT_FOUND: {
    meaning: 'No such checkpoint of this workspace, or it was dropped for newer ones.',
    status: 404,
    retry: 'changed',
    next: 'Take an id from `list_checkpoints`.',
  },
  CHECKPOINT_TOO_LARGE: {
    meaning:
      'The workspace has more files or bytes than a checkpoint may have: `details` names the limit. Nothing was changed.',
    status: 422,
    retry: 'changed',
    next: 'Raise the limit in the section `checkpoints`, or move large files out of the workspace.',
  },
  CHECKPOINT_FAILED: {
    meaning: 'Saving or comparing the workspace failed; the message says why. The workspace was not changed.',
    status: 500,
    retry: 'later',
    next: 'Remove the cause that the message names. Repeat it when no command writes to the workspace.',
  },
  RESTORE_FAILED: {
    meaning: 'The workspace could not be restored and is as it was before, unless `details.rolled_back` is false.',
    status: 500,
    retry: 'check',
    next: 'Look at `details.rolled_back`. Repeat it when no command writes to the workspace.',
  },
  GIT_NOT_FOUND: {
    meaning: 'Checkpoints need git, which is not installed or cannot be run.',
    status: 503,
    retry: 'changed',
    next: 'Install git. Everything else works without it.',
  },
  PAYLOAD_TOO_LARGE: {
    meaning: 'The message is larger than `max_message_bytes` of the configuration: `details` says how large both are.',
    status: 413,
    retry: 'changed',
    next: 'Send the input as a stream (`stdin_stream`) or through a file, or raise `socketio.max_message_bytes`.',
  },
  UNAUTHORIZED: {
    meaning: 'Authentication failed: the token is missing or wrong, or it was revoked, replaced, or has expired.',
    status: 401,
    retry: 'changed',
    next: 'Get a token with `shell-adapter token create`, and set `SHELL_ADAPTER_TOKEN`.',
  },
  FORBIDDEN: {
    meaning: 'The role of the token does not permit this: `details.needs` lists the roles that do.',
    status: 403,
    retry: 'changed',
    next: 'Use a token with one of these roles. A web page needs its origin among `socketio.cors_allowed_origins`.',
  },
  RATE_LIMITED: {
    meaning:
      'The token has made too many requests: `details.retry_after_ms` says when the next one is allowed. Or too many wrong tokens were used.',
    status: 429,
    retry: 'later',
    next: 'Wait for `details.retry_after_ms`, then send the same request.',
  },
  ...FILE_ERRORS,
  ...PORT_ERRORS,
  ...LLM_ERRORS,
  ...CLUSTER_ERRORS,
  SHUTTING_DOWN: {
    meaning: 'The daemon is stopping and accepts no new work.',
    status: 503,
    retry: 'later',
    next: 'Connect again when the daemon is back. A new run does not know the old sessions.',
  },
  INTERNAL: {
    meaning: 'Internal error. The session and the daemon go on; the log has the details.',
    status: 500,
    retry: 'check',
    next: 'Look into the log of the daemon, and report the error.',
  },
});

/** An error code of the catalogue. */
export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** The status of an error over HTTP. */
export const statusOf = (code: ErrorCode): number => ERROR_CATALOGUE[code].status;

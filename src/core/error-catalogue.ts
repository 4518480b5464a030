/**
 * Whether the same request may be sent again after an error:
 * - `later`: nothing was done, and the same request may succeed later;
 * - `changed`: nothing was done, and the same request fails again until the next step was taken;
 * - `check`: something may have been done: look before the request is repeated.
 */
type Retry = 'later' | 'changed' | 'check';

/** What the documentation and the transports know about an error code. */
interface ErrorEntry {
  /** What the code means: one sentence or more. */
  readonly meaning: string;
  /** Status over HTTP. */
  readonly status: number;
  readonly retry: Retry;
  /** What the client or its user does next. */
  readonly next: string;
}

/** Checks the entries of a table of error codes, and keeps the codes as its type. */
const defineErrors = <Code extends string>(entries: Readonly<Record<Code, ErrorEntry>>) => entries;

/**
 * Error codes of a cluster. `details.node` names the node, `details.retry_safe` says whether the same request may be sent
 * again as it is, `details.maybe_executed` whether it may have been done.
 */
const CLUSTER_ERRORS = defineErrors({
  NODE_LOST: {
    meaning: 'The node that was to answer has been lost, or the connection to it, before its answer.',
    status: 502,
    retry: 'check',
    next: 'Send the request again if `details.retry_safe` is true. Otherwise look at what it has done first.',
  },
  NODE_UNREACHABLE: {
    meaning: 'There is no connection to the node: nothing was done.',
    status: 503,
    retry: 'later',
    next: 'Send the request again in some seconds. `list_nodes` says what is wrong with the node.',
  },
  NODE_DRAINING: {
    meaning: 'The node is being drained: it takes no new sessions. Nothing was done.',
    status: 503,
    retry: 'later',
    next: 'Open the session without naming the node, or end the draining by `drain_node`.',
  },
  NO_CAPACITY: {
    meaning: 'No node can take the request: none is connected that takes new work, is not full, and has the labels.',
    status: 503,
    retry: 'later',
    next: 'Close sessions, or add a node. `list_nodes` shows how full the nodes are.',
  },
  REGISTRY_UNAVAILABLE: {
    meaning: 'The registry of the cluster, Redis, does not answer, and the request needs it. Nothing was done.',
    status: 503,
    retry: 'later',
    next: 'Send the request again in some seconds. Sessions that are open go on meanwhile. `/readyz` and the log of the node say why.',
  },
});

const FILE_ERRORS = defineErrors({
  FILE_NOT_FOUND: {
    meaning: 'There is no such file or directory, or none above it.',
    status: 404,
    retry: 'changed',
    next: 'List the directory above it with `list_directory`; `create_directories` makes missing ones.',
  },
  FILE_EXISTS: {
    meaning: 'There is something of that name already, and the request does not say that it may be replaced.',
    status: 409,
    retry: 'changed',
    next: 'Choose another name, or allow it with `mode: "overwrite"` or `overwrite: true`.',
  },
  FILE_CHANGED: {
    meaning:
      'The file is not what the request expects, or its path leads elsewhere than when it was judged. Nothing was changed.',
    status: 412,
    retry: 'changed',
    next: 'Read the file again: `details` has its present `sha256` and `mtime_ms`.',
  },
  FILE_ACCESS_DENIED: {
    meaning: 'The operating system or the sandbox does not allow it: permissions, a read-only place, or a mount point.',
    status: 403,
    retry: 'changed',
    next: 'Use a place in the workspace, or change the permissions.',
  },
  FILE_TOO_LARGE: {
    meaning: 'The file, or what is to be written, is larger than a request or a limit allows.',
    status: 413,
    retry: 'changed',
    next: 'Read or write it in parts, or edit it by a command, such as `sed -i`.',
  },
  FILE_FAILED: {
    meaning: 'The operating system could not do it: `details.errno` says why.',
    status: 500,
    retry: 'check',
    next: 'Look at the path with `stat_path` or a command before you try again.',
  },
  NOT_A_FILE: {
    meaning:
      'It is a directory, a pipe, a socket, a device, or a file of the kernel, where the content of a file is wanted.',
    status: 409,
    retry: 'changed',
    next: 'Use `list_directory` for a directory, and a command for the others.',
  },
  NOT_A_DIRECTORY: {
    meaning: 'It is a file, or a file is above it, where a directory is wanted.',
    status: 409,
    retry: 'changed',
    next: 'Look at the path with `stat_path`.',
  },
  DIRECTORY_NOT_EMPTY: {
    meaning: 'The directory has entries, and the request does not say that they may be removed.',
    status: 409,
    retry: 'changed',
    next: 'Remove it with `recursive: true`.',
  },
  NOT_TEXT: {
    meaning: 'The file is not text in UTF-8.',
    status: 415,
    retry: 'changed',
    next: 'Read it with `encoding: "bytes"` or `"base64"`, or look at it by a command, such as `file` or `xxd`.',
  },
  TEXT_NOT_FOUND: {
    meaning: 'The text to replace (`old_text`) is not in the file. Nothing was changed.',
    status: 409,
    retry: 'changed',
    next: 'Read the file again, and give `old_text` exactly as it is there, with its spaces and line ends.',
  },
  TEXT_NOT_UNIQUE: {
    meaning:
      'The text to replace (`old_text`) is in the file more than once: `details` has how often, and the lines. Nothing was changed.',
    status: 409,
    retry: 'changed',
    next: 'Give more of the text around it in `old_text`, or `all: true`.',
  },
  DISK_FULL: {
    meaning:
      'There is no space left on the disk, in its quota, or above the free space that has to stay. Nothing was changed.',
    status: 507,
    retry: 'changed',
    next: 'Remove something, write elsewhere, or ask the user for room on the disk.',
  },
});

/** Error codes of LLM calls. A run of a tool may have changed files even when it fails. */
const LLM_ERRORS = defineErrors({
  PROVIDER_NOT_FOUND: {
    meaning: 'There is no LLM provider of that name: `details` lists the existing ones.',
    status: 404,
    retry: 'changed',
    next: 'Take a name from `details` or from `list_llm_providers`.',
  },
  LLM_UNAVAILABLE: {
    meaning:
      'The LLM provider is not available: its tool is not installed or is switched off, or its service is not configured or not reachable.',
    status: 503,
    retry: 'changed',
    next: 'Install the tool or switch it on; check `base_url` and the network for a service.',
  },
  LLM_AUTH: {
    meaning: 'Authentication with the LLM provider failed: its tool is not logged in, or its key is missing or wrong.',
    status: 500,
    retry: 'changed',
    next: 'Log in to the tool as the user of the daemon, or set its key in the configuration.',
  },
  LLM_RATE_LIMITED: {
    meaning: 'The LLM provider accepts no more calls for now, or too many calls already wait for it.',
    status: 429,
    retry: 'later',
    next: 'Wait, then ask again. If `details` has `exit_code`, the tool has run: first look at what it has changed.',
  },
  LLM_MODEL_NOT_FOUND: {
    meaning: 'The LLM provider has no such model.',
    status: 500,
    retry: 'changed',
    next: 'Name another model, or none for the default of the provider.',
  },
  LLM_PROMPT_TOO_LARGE: {
    meaning: 'The messages are larger than the LLM provider accepts: `details` has the limit.',
    status: 400,
    retry: 'changed',
    next: 'Send shorter messages, or put large text into files that the tool can read.',
  },
  LLM_TIMEOUT: {
    meaning: 'The LLM provider did not answer in time. Everything that its tool had started has been ended.',
    status: 504,
    retry: 'check',
    next: 'Give more time with `timeout_ms`. A tool that waits for a login never answers.',
  },
  LLM_LIMIT_EXCEEDED: {
    meaning:
      'The run of a tool exceeded a limit of the section `llm` and was ended: `details` has `killed_by`, `limit` and `resource_usage`.',
    status: 500,
    retry: 'check',
    next: 'Raise the limit in the section `llm`.',
  },
  LLM_EMPTY: {
    meaning: 'The LLM provider gave an empty answer.',
    status: 500,
    retry: 'check',
    next: 'Ask again, or ask another provider.',
  },
  LLM_FAILED: {
    meaning: 'The LLM provider failed: `details.detail` is what it said.',
    status: 500,
    retry: 'check',
    next: 'Read `details.detail`, then ask again or ask another provider.',
  },
  LLM_CANCELLED: {
    meaning: 'The call was cancelled. Everything that a tool had started for it has been ended.',
    status: 500,
    retry: 'check',
    next: 'Ask again if the answer is still needed.',
  },
});

const PORT_ERRORS = defineErrors({
  PORT_NOT_FOUND: {
    meaning: 'No process of the session listens on the port.',
    status: 404,
    retry: 'later',
    next: 'Wait for the port with `wait_for`; `list_ports` lists those of the session.',
  },
  PORT_UNAVAILABLE: {
    meaning:
      "The port cannot be previewed: previews are off, or the port is the daemon's own or cannot be reached. Or a program that the platform `posix` finds ports by is missing. The message says which.",
    status: 409,
    retry: 'changed',
    next: 'Set `http.previews: true`, or have the program listen on 127.0.0.1, outside of a sandbox with its own network; install lsof and netstat.',
  },
  PORT_UNREACHABLE: {
    meaning: 'The program on the port did not accept the connection, or ended it before its answer.',
    status: 502,
    retry: 'check',
    next: 'Look at the output of the program. It may have received the request.',
  },
});

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
    next: 'Open another session with `open_session`. The state of the old one is lost.',
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
    next: 'Close a session that is no longer needed (`close_session`), wait for a command, or raise the limit that `details` names.',
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
    next: 'Wait until the program has read its input, then type the rest.',
  },
  SHELL_NOT_FOUND: {
    meaning: 'The shell is not installed, or is not one that the adapter can drive.',
    status: 400,
    retry: 'changed',
    next: 'Leave out `shell`, or name bash, zsh, sh, fish or pwsh. `shell-adapter doctor` lists those that work.',
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
    next: 'Do not repeat it: do it another way, ask the user, or change the policy.',
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
    next: 'Confirm with the `command_sha256` that was shown, or send the command again and confirm what is shown then.',
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
    next: 'Name a directory that exists on the machine of the daemon, or none.',
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
    next: 'Send the same request again in some seconds, or free what the message names.',
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
    next: 'Go on without a checkpoint, move large files out of the workspace, or raise the limit in the section `checkpoints`.',
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
    next: 'Go on without checkpoints, or install git. Everything else works without it.',
  },
  PAYLOAD_TOO_LARGE: {
    meaning: 'The message is larger than `max_message_bytes` of the configuration: `details` says how large both are.',
    status: 413,
    retry: 'changed',
    next: 'Send it in parts, as a stream (`stdin_stream`) or through a file, or raise `socketio.max_message_bytes`.',
  },
  UNAUTHORIZED: {
    meaning: 'Authentication failed: the token is missing or wrong, or it was revoked, replaced, or has expired.',
    status: 401,
    retry: 'changed',
    next: 'Ask the user for a token: `shell-adapter token create`, then set `SHELL_ADAPTER_TOKEN`.',
  },
  FORBIDDEN: {
    meaning: 'The role of the token does not permit this: `details.needs` lists the roles that do.',
    status: 403,
    retry: 'changed',
    next: 'Ask the user for a token with one of these roles. A web page needs its origin among `socketio.cors_allowed_origins`.',
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

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

export const statusOf = (code: ErrorCode): number => ERROR_CATALOGUE[code].status;

/** Error codes of the JavaScript client, which no daemon answers with. */
export const CLIENT_ERRORS = {
  CONNECTION_FAILED: {
    meaning: 'No daemon answers at the address.',
    next: 'Start the daemon with `shell-adapter serve`, or use `shell-adapter mcp --start`; then send the request again.',
  },
  REFUSED: {
    meaning: 'The daemon refused the connection.',
    next: 'Ask the user for a token: `shell-adapter token create`, then set `SHELL_ADAPTER_TOKEN`.',
  },
  CONNECTION_LOST: {
    meaning: 'The connection was lost. The request may or may not have been carried out.',
    next: 'Look at what the request has done when the daemon is back, before you send it again.',
  },
  REQUEST_TIMEOUT: {
    meaning: 'The daemon has not answered within the given time.',
    next: 'Look at what the request has done before you send it again, and give it more time.',
  },
  CLIENT_CLOSED: {
    meaning: 'The client was closed before the answer came.',
    next: 'Connect again, and look at what the request has done before you send it again.',
  },
  CONFIRMATION_REQUIRED: {
    meaning: 'Nothing was run or typed: confirmation is needed first. The error is a ConfirmationRequiredError.',
    next: 'Confirm it with `confirm_command`, or have an operator confirm it; then the command runs.',
  },
  INVALID_ANSWER: {
    meaning: 'The answer of the daemon is not what the protocol says, and is not used.',
    next: 'Use a client and a daemon of the same version.',
  },
  NOT_STREAMED: {
    meaning: 'The command cannot be iterated: it was not run with `stream: true`, or has been iterated before.',
    next: 'Run it with `stream: true`, and iterate it once.',
  },
} as const satisfies Readonly<Record<string, Pick<ErrorEntry, 'meaning' | 'next'>>>;

const NEXT_STEPS: ReadonlyMap<string, string> = new Map(
  Object.entries({ ...ERROR_CATALOGUE, ...CLIENT_ERRORS }).map(([code, { next }]) => [code, next]),
);

/** What to do after an error of the daemon or of the client. A code of a newer daemon is not known here. */
export const nextStepOf = (code: string): string =>
  NEXT_STEPS.get(code) ?? 'Read the message of the error: this version does not know its code.';

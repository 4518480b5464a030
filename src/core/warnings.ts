/** What the documentation knows about a warning. */
export interface WarningEntry {
  /** What has happened: one sentence or more. */
  readonly meaning: string;
  /** What the client or its user does next. */
  readonly next: string;
  /**
   * Where `shell-adapter exec` prints it on standard error: always, or only on a terminal, because the command's own output
   * has it or nothing depends on it.
   */
  readonly printed: 'always' | 'on_terminal';
}

/** Checks the entries of a table of warnings, and keeps the codes as its type. */
const defineWarnings = <Code extends string>(entries: Readonly<Record<Code, WarningEntry>>) => entries;

/** Warnings about one command: how it ran, or why not. */
export const COMMAND_WARNINGS = defineWarnings({
  NOT_STARTED: {
    meaning:
      'The daemon could not start the command: nothing of it ran. The exit code is 126, and the message says why.',
    next: 'Remove the cause that the message names, then send the command again under a new `command_id`.',
    printed: 'always',
  },
  RESOURCE_EXHAUSTED: {
    meaning: 'The machine had no free process, descriptor or memory for the command: nothing of it ran.',
    next: 'Wait some seconds, or end what uses them, then send the command again under a new `command_id`.',
    printed: 'always',
  },
  SYNTAX_ERROR: {
    meaning: 'The shell cannot parse the command: nothing of it ran. `stderr` has the message of the shell.',
    next: 'Correct the command. The session is as it was before.',
    printed: 'on_terminal',
  },
  SHELL_ENDED: {
    meaning:
      'The shell has ended: by the command, as with `exit` or `exec`, or by a signal. The session has a new shell with the saved state.',
    next: 'Set again what the message lists as not restored.',
    printed: 'always',
  },
  SHELL_WEDGED: {
    meaning:
      'The shell did not answer any more, or a program in its place read the terminal and got no input, and was killed. The session has a new shell with the saved state.',
    next: 'Set again what the message lists as not restored. Check what the command has done before you repeat it.',
    printed: 'always',
  },
  BACKGROUND_ENDED: {
    meaning: 'Background processes were ended: those of a one-shot command, or those of a shell that was replaced.',
    next: 'Start them again, in a session if they were started by a one-shot command.',
    printed: 'always',
  },
  PROCESSES_UNKNOWN: {
    meaning:
      'Processes could not be listed when the command ended, since the machine had no free process: `background_processes` is empty.',
    next: 'Look at `background_processes` of the next result, or of `get_session`.',
    printed: 'on_terminal',
  },
  LIMIT_EXCEEDED: {
    meaning:
      'A limit was reached, and the command completed all the same: some of its processes, or those of earlier commands, were ended or not started.',
    next: 'Look at the resource that the message names. Raise the limit with `limits` if the command needs more.',
    printed: 'always',
  },
  EGRESS_REFUSED: {
    meaning:
      'The allow-list of the sandbox has refused a connection. The message has the destination, and what would allow it.',
    next: 'Add the destination to `sandbox.network.allow`, or do without the connection.',
    printed: 'always',
  },
  CHECKPOINT_SAVED: {
    meaning: 'The workspace was saved before the command, since the command may destroy files.',
    next: 'Nothing, or bring the files back: `restore_workspace` with the `checkpoint_id` of the result.',
    printed: 'always',
  },
  NO_CHECKPOINT: {
    meaning: 'The workspace could not be saved before the command, and the command ran: it was confirmed.',
    next: 'Remove the cause that the message names before the next such command: restoring cannot undo this one.',
    printed: 'always',
  },
  REMEMBERED_APPROVAL: {
    meaning: 'The command ran without a question, since an earlier approval of it is remembered.',
    next: 'Nothing, or end that with `revoke_remembered_approval`.',
    printed: 'on_terminal',
  },
  NO_CLAIM: {
    meaning:
      'The registry of the cluster did not answer: no other node knows that this `command_id` is taken. The command ran.',
    next: 'Do not send the same `command_id` to another node: the command may run twice. `/readyz` says what is wrong with Redis.',
    printed: 'always',
  },
});

/** Warnings about the state of a session, in which later commands will fail. */
export const SESSION_WARNINGS = defineWarnings({
  DIRECTORY_GONE: {
    meaning: 'The working directory of the session was removed: relative paths fail.',
    next: 'Change the directory with `cd`, or give `cwd` with the next command.',
    printed: 'always',
  },
  PATH_BROKEN: {
    meaning: '`PATH` does not lead to common programs any more, to which it led at the start.',
    next: 'Set it again with `export PATH=…`, or use `reset_session`.',
    printed: 'always',
  },
  COMMANDS_SHADOWED: {
    meaning: 'Functions or aliases replace common commands, and do something else.',
    next: 'Remove them with `unset -f` or `unalias`, or use `reset_session`.',
    printed: 'always',
  },
  SHELL_OPTIONS: {
    meaning: 'Options of the shell are on that change or end later commands, such as `set -e`.',
    next: 'Turn them off as the message shows, or use `reset_session`.',
    printed: 'always',
  },
  TERMINAL_MODES: {
    meaning: 'A command has left the terminal in other modes. The daemon has restored them.',
    next: 'Set the modes in the same command that needs them.',
    printed: 'on_terminal',
  },
  PROCESSES_LEFT: {
    meaning: 'Commands have left 20 or more processes running.',
    next: 'End those that are not needed. All end with the session.',
    printed: 'on_terminal',
  },
  ENVIRONMENT_LARGE: {
    meaning: 'The exported variables take 128 KiB or more: programs may fail with "Argument list too long".',
    next: 'Remove the large ones with `export -n` or `unset`.',
    printed: 'always',
  },
  DISK_LOW: {
    meaning: 'The disk of the working directory has less than 5 % and less than 256 MiB left.',
    next: 'Remove files that are not needed.',
    printed: 'always',
  },
});

export type SessionWarningCode = keyof typeof SESSION_WARNINGS;

/**
 * The code of a warning. Codes are never renamed or reused: `test/unit/core/warnings.test.ts` pins the list in both
 * directions.
 */
export type WarningCode = keyof typeof COMMAND_WARNINGS | SessionWarningCode;

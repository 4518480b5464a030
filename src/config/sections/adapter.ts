import { z } from 'zod';
import { LIMIT_MECHANISM_NAMES } from '../../core/limits/limits.js';
import { count, derivedCount, duration, limit, path } from './fields.js';
import { chooseOutputSizes } from './output-sizes.js';

/** The shells that have a driver. */
const SHELL_NAMES = ['bash', 'zsh', 'sh'] as const;

/** Limit mechanisms: `auto` selects the best that works; any other value is required. */
export const LIMIT_MECHANISMS = ['auto', ...LIMIT_MECHANISM_NAMES] as const;

/** Upper bound of head and tail of a result, which are held in memory. */
const MAX_OUTPUT_CHARACTERS = 16 * 1024 * 1024;
const OUTPUT_RANGE = { unit: 'characters', min: 0, max: MAX_OUTPUT_CHARACTERS };

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const VARIABLE_PATTERN = /^(?:[A-Za-z_][A-Za-z0-9_]*\*?|\*)$/;

const prewarm = z.strictObject({
  sessions: count({ unit: 'shells', min: 0, max: 64 }, 1, 'Shells kept started for open_session; 0 keeps none.'),
  one_shots: count(
    { unit: 'shells', min: 0, max: 64 },
    4,
    'Shells kept started for commands without a session, each used once; 0 keeps none.',
  ),
});

const passError = 'must be a list of variable names, each of which may end in "*"';
const setError = 'must be a mapping of variable names to texts';
const setValueError = 'must be a text; write numbers and true or false in quotes';

const environment = z.strictObject({
  pass: z
    .array(z.string({ error: passError }).regex(VARIABLE_PATTERN, { error: passError }), { error: passError })
    .default([])
    .describe("Names of the daemon's variables that shells get too; a name may end in `*`. Default: none."),
  set: z
    .record(
      z.string().regex(VARIABLE_NAME, { error: 'is not the name of a variable' }),
      z.string({ error: setValueError }).refine((value) => !value.includes('\0'), { error: setValueError }),
      { error: setError },
    )
    .default({})
    .describe('Variables that every shell gets, before all others. Default: none.'),
});

const shellError = `must be ${SHELL_NAMES.join(', ')}, or the path of one of them`;

/** `adapter`: shells, commands, time limits, and the output that is kept. */
export const adapterSection = z
  .strictObject({
    adapter_type: z
      .literal('shell', { error: 'must be "shell"' })
      .default('shell')
      .describe('What this adapter runs. Default: shell.'),
    workspace_directory: path(
      'the directory that the daemon was started in',
      'Where sessions start; created when it is missing.',
    ),
    shell: z
      .string({ error: shellError })
      .refine(isShell, { error: shellError })
      .default('bash')
      .describe('The shell of a session that asks for none: bash, zsh, sh, or the path of one. Default: bash.'),
    connection_check_interval: duration('seconds', 300, 'How often clients and sessions are checked for life.'),
    session_max_lifetime: duration('minutes', 1440, 'A session older than this ends once its running command does.'),
    session_idle_timeout: duration('minutes', 120, 'A session in which nothing has run for so long ends.'),
    reconnect_grace: duration('seconds', 600, 'How long the sessions of a client that has gone wait for its return.'),
    command_max_lifetime: duration('seconds', 600, 'The longest a command may run, and its default time-out.'),
    kill_grace: duration('seconds', 2, 'Between asking a process to end and killing it.'),
    wedge_timeout: duration('seconds', 3, 'How long a shell that no longer answers may stay so before it is replaced.'),
    max_output_size: count(
      { ...OUTPUT_RANGE, min: 1 },
      30_000,
      'An output stream of at most this size is returned whole, a longer one as its beginning and its end.',
    ),
    begin_output_size: derivedCount(
      OUTPUT_RANGE,
      'a third of max_output_size',
      'How much of the beginning of a trimmed output is returned.',
    ),
    end_output_size: derivedCount(
      OUTPUT_RANGE,
      'max_output_size without begin_output_size',
      'How much of the end of a trimmed output is returned.',
    ),
    spool_mb_limit: count(
      { unit: 'MB', min: 1, max: 1024 * 1024 },
      256,
      'How much of the full output is kept on disk, for each session, to be read later.',
    ),
    replay_kb: count(
      { unit: 'KB', min: 1, max: 1024 * 1024 },
      1024,
      'How much of the latest output of a session is kept in memory for a client that comes back.',
    ),
    cpu_percent_limit: limit(
      'cpu_percent_limit',
      'How much CPU the processes of a session may use together, on the average over cpu_window.',
    ),
    cpu_window: duration('seconds', 10, 'Over how long cpu_percent_limit is averaged: shorter bursts are no excess.'),
    cpu_seconds_limit: limit(
      'cpu_seconds_limit',
      'How much CPU time the processes of a session may use, from when one begins until none runs any more.',
    ),
    memory_mb_limit: limit('memory_mb_limit', 'How much memory the processes of a session may use together.'),
    process_limit: limit('process_limit', 'How many a session may have, its shell included.'),
    disk_mb_limit: limit(
      'disk_mb_limit',
      'How much the processes of a session may write to disks, from when one begins until none runs any more.',
    ),
    disk_free_mb_floor: limit(
      'disk_free_mb_floor',
      'Free space of the disk of workspace_directory below which commands that write to disks are ended.',
    ),
    limit_mechanism: z
      .enum(LIMIT_MECHANISMS, { error: `must be ${LIMIT_MECHANISMS.join(', ')}` })
      .default('auto')
      .describe('By what limits are kept: auto takes the best that works here. Default: auto.'),
    max_sessions: count({ unit: 'sessions', min: 1, max: 10_000 }, 256, 'Sessions that may be open at a time.'),
    queue_limit: count({ unit: 'commands', min: 1, max: 10_000 }, 32, 'Commands that may wait in a session.'),
    prewarm: prewarm.prefault({}),
    state_directory: path(
      '${XDG_STATE_HOME:-~/.local/state}/shell-adapter',
      'Where the daemon keeps its own files: output on disk, what a successor needs to clean up after it.',
    ),
    environment: environment.prefault({}),
  })
  .superRefine(checkOutputSizes, { when: ({ value }) => hasSizes(value) });

function isShell(shell: string): boolean {
  return shell.includes('/') || SHELL_NAMES.some((name) => name === shell);
}

interface WrittenSizes {
  readonly max_output_size: number;
  readonly begin_output_size?: number | undefined;
  readonly end_output_size?: number | undefined;
}

const isSize = (value: unknown): value is number => Number.isInteger(value) && (value as number) >= 0;

/** Other keys of the section may be invalid while the sizes can be compared: then both problems are reported. */
function hasSizes(section: unknown): section is WrittenSizes {
  if (typeof section !== 'object' || section === null) return false;
  const { max_output_size: max, begin_output_size: begin, end_output_size: end } = section as Record<string, unknown>;
  return isSize(max) && [begin, end].every((size) => size === undefined || isSize(size));
}

function checkOutputSizes(written: WrittenSizes, context: z.RefinementCtx): void {
  const { max, begin, end } = chooseOutputSizes(
    written.max_output_size,
    written.begin_output_size,
    written.end_output_size,
  );
  if (begin + end <= max) return;
  context.addIssue({
    code: 'custom',
    path: [written.end_output_size === undefined ? 'begin_output_size' : 'end_output_size'],
    message: `begin_output_size (${begin}) and end_output_size (${end}) may not be more than max_output_size (${max}) together`,
  });
}

import { z } from 'zod';

import { LIMIT_MECHANISM_NAMES } from '../../core/limits.js';
import { PLATFORM_NAMES } from '../../core/platform.js';
import { MAX_RESULT_CHARACTERS } from '../../core/protocol/bounds.js';
import {
  choice,
  computedCount,
  computedDuration,
  count,
  described,
  diskFloor,
  duration,
  flag,
  type LimitKey,
  list,
  optionalCount,
  path,
  resourceLimits,
  restarting,
  textWhere,
  variables,
} from '../fields.js';

const OUTPUT_RANGE = { unit: 'characters', min: 0, max: MAX_RESULT_CHARACTERS } as const;
const LINES_RANGE = { unit: 'lines', min: 0, max: MAX_RESULT_CHARACTERS } as const;

/** Keys of `adapter` that say how much of an output a result has. */
const outputKeys = {
  max_output_size: count(
    { ...OUTPUT_RANGE, min: 1 },
    30_000,
    'An output stream up to this size is returned whole, a longer one as its beginning and its end.',
  ),
  begin_output_size: computedCount(
    OUTPUT_RANGE,
    'a third of `max_output_size`',
    'Size of the beginning of a truncated output.',
  ),
  end_output_size: computedCount(
    OUTPUT_RANGE,
    '`max_output_size` without `begin_output_size`',
    'Size of the end of a truncated output.',
  ),
  max_output_lines: optionalCount(
    LINES_RANGE,
    '`begin_output_lines` and `end_output_lines` together; otherwise no limit',
    'An output stream of up to so many lines is returned whole, a longer one as its first and its last lines.',
  ),
  begin_output_lines: optionalCount(
    LINES_RANGE,
    'a third of `max_output_lines`',
    'Lines at the beginning of an output that is truncated by lines.',
  ),
  end_output_lines: optionalCount(
    LINES_RANGE,
    '`max_output_lines` without `begin_output_lines`',
    'Lines at the end of an output that is truncated by lines.',
  ),
  max_line_length: optionalCount(
    { ...OUTPUT_RANGE, min: 1 },
    'no limit',
    'Characters after which a line of a result is cut and ends in `…`.',
  ),
};

/** The unit in which the beginning and the end of an output are measured: the last word of the keys. */
type Measure = 'size' | 'lines';

/** How much of a stream a result has. */
interface Bounds {
  readonly max: number;
  readonly begin: number;
  readonly end: number;
}

const boundKey = (bound: keyof Bounds, measure: Measure) => `${bound}_output_${measure}` as const;

/** A bound as it is written, valid or not. */
const writtenBound = (section: object, bound: keyof Bounds, measure: Measure): unknown =>
  (section as Readonly<Record<string, unknown>>)[boundKey(bound, measure)];

/** The head gets a third of a truncated output, the tail the rest: error messages are mostly at the end. */
const BEGIN_SHARE = 3;

const isCount = (value: unknown): boolean => value === undefined || (Number.isInteger(value) && Number(value) >= 0);

/**
 * Derives missing bounds from the others.
 * @returns undefined without any, and when one is invalid, which is reported elsewhere
 */
function boundsOf(section: object, measure: Measure): Bounds | undefined {
  const written = (['max', 'begin', 'end'] as const).map((bound) => writtenBound(section, bound, measure));
  if (!written.every(isCount) || written.every((value) => value === undefined)) return undefined;
  const [givenMax, begin, end] = written as (number | undefined)[];
  const max = givenMax ?? (begin ?? 0) + (end ?? 0);
  const chosen = begin ?? (end === undefined ? Math.floor(max / BEGIN_SHARE) : Math.max(0, max - end));
  return { max, begin: chosen, end: end ?? Math.max(0, max - chosen) };
}

/** Reports bounds whose beginning and end are more than the maximum together. */
const checkBounds =
  (measure: Measure) =>
  (section: object, context: z.RefinementCtx): void => {
    const { max, begin, end } = boundsOf(section, measure) ?? { max: 0, begin: 0, end: 0 };
    if (begin + end <= max) return;
    const bound = writtenBound(section, 'end', measure) === undefined ? 'begin' : 'end';
    const message = `${boundKey('begin', measure)} (${begin}) and ${boundKey('end', measure)} (${end}) may not be more than ${boundKey('max', measure)} (${max}) together`;
    context.addIssue({ code: 'custom', path: [boundKey(bound, measure)], message });
  };

/** Whether bounds can be compared: other keys of the section may be invalid, then both problems are reported. */
const hasBounds =
  (measure: Measure) =>
  ({ value }: { readonly value: unknown }): boolean =>
    typeof value === 'object' && value !== null && boundsOf(value, measure) !== undefined;

/** With the sizes, which follow from the maximum alone, and the lines, if there are any. */
const chooseBounds = (section: object) => {
  const { begin = 0, end = 0 } = boundsOf(section, 'size') ?? {};
  const lines = boundsOf(section, 'lines');
  return {
    begin_output_size: begin,
    end_output_size: end,
    ...(lines && { max_output_lines: lines.max, begin_output_lines: lines.begin, end_output_lines: lines.end }),
  };
};

/** The shells that have a driver. */
const SHELL_NAMES = ['bash', 'zsh', 'sh', 'fish'] as const;

/** Limit mechanisms: `auto` selects the best that works; any other value is required. */
const LIMIT_MECHANISMS = ['auto', ...LIMIT_MECHANISM_NAMES] as const;

/** Platforms: `auto` selects `linux` where there is the /proc of Linux. */
const PLATFORMS = ['auto', ...PLATFORM_NAMES] as const;

const VARIABLE_PATTERN = /^(?:[A-Za-z_][A-Za-z0-9_]*\*?|\*)$/;

const prewarm = restarting({
  sessions: count({ unit: 'shells', min: 0, max: 64 }, 1, 'Shells kept started for new sessions; 0 keeps none.'),
  one_shots: count(
    { unit: 'shells', min: 0, max: 64 },
    4,
    'Shells kept started for commands without a session, each used once; 0 keeps none.',
  ),
});

const passError = 'must be a list of variable names, each of which may end in "*"';

const environment = restarting({
  pass: list(
    textWhere((name) => VARIABLE_PATTERN.test(name), passError),
    passError,
    "Names of the daemon's variables that shells get too; a name may end in `*`.",
  ),
  set: described(variables('must be a mapping of variable names to texts').default({}), {
    text: 'Variables that every shell gets; they override all others.',
    fallback: 'none',
  }),
});

const shellError = `must be ${SHELL_NAMES.join(', ')}, or the path of one of them`;

/** `adapter`: shells, commands, time limits, and the output that is kept. */
export const adapterSection = z
  .strictObject({
    adapter_type: described(z.literal('shell', { error: 'must be "shell"' }).default('shell'), {
      text: 'The kind of adapter. There is one.',
      fallback: '`shell`',
      reload: 'restart',
    }),
    workspace_directory: path(
      'The directory where sessions start; created when it is missing.',
      { in: 'start_directory', name: '.' },
      'restart',
    ),
    shell: described(textWhere(isShell, shellError).default('bash'), {
      text: 'The shell of a session that asks for none, and of commands without a session: bash, zsh, sh, fish, or the path of one.',
      fallback: '`bash`',
      reload: 'restart',
      location: { if: (shell) => shell.includes('/') },
    }),
    connection_check_interval: duration('seconds', 300, 'Interval at which clients and sessions are checked for life.'),
    session_max_lifetime: duration('minutes', 1440, 'A session older than this ends once its running command does.'),
    session_idle_timeout: duration('minutes', 120, 'A session in which nothing has run for so long ends.'),
    reconnect_grace: duration(
      'seconds',
      600,
      'How long the sessions of a connected client wait for its return. Sessions of the command line, HTTP and MCP do not depend on it.',
    ),
    command_timeout: computedDuration(
      'seconds',
      '`command_max_lifetime` if that is set, else `600`',
      'Time-out of a command that asks for none; never more than `command_max_lifetime`.',
    ),
    command_max_lifetime: computedDuration(
      'seconds',
      '`86400`',
      'The longest time-out that a command may ask for. Set alone, it is the time-out of all others, too.',
    ),
    detach: flag(
      false,
      'Whether sessions outlive the daemon: a process beside it holds them, and the next daemon finds them. See [upgrades](../operate/upgrades.md).',
      'restart',
    ),
    kill_grace: duration('seconds', 2, 'Time between asking a process to end and killing it.', 'restart'),
    wedge_timeout: duration(
      'seconds',
      3,
      'How long a shell may stay unresponsive before it is replaced. One that is busy saving its state may use ten times as much CPU time.',
      'new_sessions',
    ),
    ...outputKeys,
    spool_mb_limit: count(
      { unit: 'MB', min: 1, max: 1024 * 1024 },
      256,
      'Full output that is kept on disk for each session, to be read later.',
      'new_sessions',
    ),
    replay_kb: count(
      { unit: 'KB', min: 1, max: 1024 * 1024 },
      1024,
      'Latest output of a session that is kept in memory for a client that reconnects.',
      'new_sessions',
    ),
    ...resourceLimits('a session', limitFallback, 'new_sessions'),
    cpu_window: duration('seconds', 10, 'Window over which `cpu_percent_limit` is averaged.'),
    safety_net: flag(
      true,
      'Whether limits that are not set are those of a safety net: half of the memory, 1024 processes, and some free disk space.',
      'new_sessions',
    ),
    disk_free_mb_floor: diskFloor(
      '512 with `safety_net`, or 5 % of a disk smaller than 10 GB; otherwise no limit',
      'Free space of the disk of `workspace_directory` below which commands that write to disks are ended.',
    ),
    platform: choice(
      PLATFORMS,
      'auto',
      'What the daemon may use of the system: `linux`, `posix`, which does without /proc, control groups and sandboxes, or `auto`, the best that is here.',
      'restart',
    ),
    limit_mechanism: choice(
      LIMIT_MECHANISMS,
      'auto',
      'How limits are enforced: `cgroup2`, `cgroup1`, `pid_namespace`, `polling`, or `auto`, the best that works here.',
      'restart',
    ),
    confine_root: flag(
      true,
      'Whether commands of root with configured or requested limits cannot leave their control groups: these are read-only for them, and they can neither mount nor trace the processes of others.',
      'restart',
    ),
    max_sessions: count({ unit: 'sessions', min: 1, max: 10_000 }, 256, 'Sessions that may be open at a time.'),
    queue_limit: count({ unit: 'commands', min: 1, max: 10_000 }, 32, 'Commands that may wait in a session.'),
    prewarm: prewarm,
    state_directory: path(
      "The daemon's own files: output on disk, tokens, checkpoints, logs.",
      { in: 'state_home', name: 'shell-adapter' },
      'restart',
    ),
    environment: environment,
  })
  .superRefine(checkBounds('size'), { when: hasBounds('size') })
  .superRefine(checkBounds('lines'), { when: hasBounds('lines') })
  .transform((section) => ({
    ...section,
    ...chooseBounds(section),
    ...chooseTimeouts(section),
  }));

/** Time-out of commands that ask for none, and the longest, in seconds, where the configuration sets neither. */
const COMMAND_TIMEOUT_S = 600;
const COMMAND_MAX_LIFETIME_S = 24 * 60 * 60;

/** Derives the time-outs of commands: who sets the longest alone has bounded all commands by it. */
function chooseTimeouts({
  command_timeout: timeout,
  command_max_lifetime: max,
}: {
  readonly command_timeout?: number | undefined;
  readonly command_max_lifetime?: number | undefined;
}) {
  const longest = max ?? COMMAND_MAX_LIFETIME_S;
  return {
    command_timeout: Math.min(timeout ?? max ?? COMMAND_TIMEOUT_S, longest),
    command_max_lifetime: longest,
  };
}

/** Default of a limit that is not set, for people. */
function limitFallback(key: LimitKey): string {
  const net: Partial<Record<LimitKey, string>> = {
    memory_mb_limit: 'half of the machine’s or container’s memory',
    process_limit: '1024',
  };
  return net[key] === undefined ? 'no limit' : `${net[key]} with \`safety_net\`; otherwise no limit`;
}

function isShell(shell: string): boolean {
  return shell.includes('/') || SHELL_NAMES.some((name) => name === shell);
}

/** Whom a step of a ladder signals. */
export type Whom =
  /** The foreground of the terminal, as Ctrl-C does: see `signalForeground`. */
  | 'foreground'
  /** The processes that are found now. */
  | 'processes'
  /** The processes, with what they start meanwhile. */
  | 'tree'
  /** The process group of a one-shot. */
  | 'group'
  /** The shell of a session. */
  | 'shell';

/** Which signal, to whom, and how long the end is waited for, in milliseconds. Signal 0 only waits: kill(2). */
export type Step = readonly [signal: NodeJS.Signals | 0, whom: Whom, waitMs: number];

/** What is left of the grace period. Each wait before the first SIGKILL ends with that period. */
const GRACE = Infinity;

/** How what runs is ended, step after step until it has. */
export const LADDERS = {
  /** A command of a session. Its shell is signalled last: it would be lost to the session. */
  command: [
    ['SIGINT', 'foreground', 150],
    ['SIGTERM', 'processes', 0],
    // A shell that handles the interrupt slowly, or was between two children, receives it again.
    ['SIGINT', 'foreground', GRACE],
    ['SIGKILL', 'processes', 0],
    ['SIGINT', 'foreground', 150],
    ['SIGKILL', 'shell', 0],
  ],
  /** A command of a session that exceeds a limit: without a grace period, its processes before the shell. */
  exceeding: [
    ['SIGKILL', 'tree', 150],
    // bash sleeps for one second when fork(2) fails.
    ['SIGINT', 'foreground', 1200],
    ['SIGKILL', 'tree', 150],
    ['SIGKILL', 'shell', 0],
  ],
  /** A command of a session where processes cannot be listed at the moment: all of them hang up with the shell. */
  unlisted: [
    [0, 'shell', GRACE],
    ['SIGKILL', 'shell', 0],
  ],
  /** A one-shot where processes cannot be listed at the moment. What has left its group is searched for later. */
  unlistedOneShot: [
    ['SIGTERM', 'group', 0],
    ['SIGCONT', 'group', GRACE],
    ['SIGKILL', 'group', 0],
  ],
  /** Processes, before they are killed. A stopped one receives SIGTERM only after SIGCONT. */
  processes: [
    ['SIGTERM', 'processes', 0],
    ['SIGCONT', 'processes', GRACE],
  ],
} as const satisfies Record<string, readonly Step[]>;

/** Longest times for other steps of ends, in milliseconds. */
export const ENDING_MS = {
  /** Until the shell has read its request: a signal before would hit its driver. */
  underWay: 100,
  /**
   * Between two interrupts of the shell itself; closer ones coalesce, as pending signals do. A second one would arrive
   * right after the first has ended the command, and zsh exits when it is interrupted while it reads a line.
   */
  interruptsApart: 100,
  /** Until an EXIT trap has run. */
  exitTrap: 1000,
  /** Until a sandbox has ended whose leader was killed. */
  sandbox: 400,
  /** Until the kernel has removed killed processes; later they count as survivors. */
  killed: 400,
  /** Further time for each of them: so many take turns to end. */
  killedEach: 1,
  /** Longest grace period when the daemon shuts down. */
  shutdownGrace: 1000,
} as const;

/** How the steps of a ladder reach what they end. */
export interface Climber {
  /**
   * Sends the signal of a step.
   * @param withinMs how long that may take, in milliseconds
   */
  readonly send: (signal: NodeJS.Signals, whom: Whom, withinMs: number) => unknown;
  /** Whether it has ended, or does within a time in milliseconds. */
  readonly endsWithin: (ms: number) => Promise<boolean>;
}

/**
 * Climbs a ladder until what is on it has ended.
 * @param killAt end of the grace period, on the monotonic clock
 */
export async function climb(ladder: readonly Step[], killAt: number, { send, endsWithin }: Climber): Promise<void> {
  let isKilling = false;
  for (const [signal, whom, waitMs] of ladder) {
    isKilling ||= signal === 'SIGKILL';
    const leftMs = () => Math.max(0, killAt - performance.now());
    if (signal !== 0) await send(signal, whom, isKilling ? waitMs : leftMs());
    if (waitMs > 0 && (await endsWithin(isKilling ? waitMs : Math.min(waitMs, leftMs())))) return;
  }
}

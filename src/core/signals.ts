/** Signals that a client may send, by their POSIX names: all but those for faults of the program itself, such as SIGSEGV. */
export const SIGNAL_NAMES = [
  'SIGINT',
  'SIGTERM',
  'SIGKILL',
  'SIGHUP',
  'SIGQUIT',
  'SIGUSR1',
  'SIGUSR2',
  'SIGTSTP',
  'SIGSTOP',
  'SIGCONT',
  'SIGWINCH',
  'SIGABRT',
  'SIGALRM',
  'SIGCHLD',
  'SIGPIPE',
  'SIGPROF',
  'SIGTRAP',
  'SIGTTIN',
  'SIGTTOU',
  'SIGURG',
  'SIGVTALRM',
  'SIGXCPU',
  'SIGXFSZ',
] as const;

export type SignalName = (typeof SIGNAL_NAMES)[number];

/** Type of a timer in any environment. */
type Timer = ReturnType<typeof setTimeout>;

/** Signals of the escalation, in order. The last is repeated. */
const ESCALATION_SIGNALS: readonly SignalName[] = ['SIGINT', 'SIGTERM', 'SIGKILL'];

/** Grace period after each signal, in milliseconds. */
const GRACE_MS = 1000;
/** Delay after a signal that reached no process, in milliseconds: the command may have only just been accepted. */
const RETRY_MS = 50;

/**
 * Ends a command by escalation: SIGINT, SIGTERM, SIGKILL, one second apart, until it has ended.
 * @param send sends a signal; returns whether it reached a process
 * @param ended settles when the command has ended
 */
export async function terminate(
  send: (signal: SignalName) => Promise<boolean>,
  ended: Promise<unknown>,
): Promise<void> {
  const signals = [...ESCALATION_SIGNALS];
  const end = ended.then(
    () => true as const,
    () => true as const,
  );
  for (let hasEnded = false; !hasEnded;) {
    const reached = await send(signals[0] ?? 'SIGKILL');
    if (reached && signals.length > 1) signals.shift();
    hasEnded = await within(end, reached ? GRACE_MS : RETRY_MS);
  }
}

async function within(end: Promise<true>, ms: number): Promise<boolean> {
  let timer: Timer | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const inTime = await Promise.race([end, late]);
  clearTimeout(timer);
  return inTime;
}

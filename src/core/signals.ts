/** Signals that a client may send; the names are POSIX's. */
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
] as const;

/** A signal by its POSIX name. */
export type SignalName = (typeof SIGNAL_NAMES)[number];

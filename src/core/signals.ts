/** Signals that a client may send, by their POSIX names. */
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

/** POSIX name of a signal. */
export type SignalName = (typeof SIGNAL_NAMES)[number];

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

/** POSIX name of a signal. */
export type SignalName = (typeof SIGNAL_NAMES)[number];

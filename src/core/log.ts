/**
 * Log for the layers below the application. Every method returns at once and never throws: a log that cannot be written
 * must not fail a command. `facts` are appended to the record as `key=value`.
 */
export interface Log {
  /** Details for debugging. */
  debug(message: string, facts?: Record<string, unknown>): void;
  /** Events of normal operation that an operator reads. */
  info(message: string, facts?: Record<string, unknown>): void;
  /** Something was lost or degraded, and the adapter continued. */
  warn(message: string, facts?: Record<string, unknown>): void;
  /** A fault in the adapter or in one of its dependencies. */
  error(message: string, facts?: Record<string, unknown>): void;
}

/** Creates a log for a part of the daemon. */
export type LogFactory = (component: string) => Log;

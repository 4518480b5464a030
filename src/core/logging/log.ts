/**
 * Where the layers below the application write what happened. Every method returns at once and never throws: a log that
 * cannot be written must not fail a command. `facts` are appended to the record as `key=value`.
 */
export interface Log {
  /** Details for finding a fault. */
  debug(message: string, facts?: Record<string, unknown>): void;
  /** What an operator wants to read on a normal day. */
  info(message: string, facts?: Record<string, unknown>): void;
  /** Something was lost or degraded, and the adapter went on. */
  warn(message: string, facts?: Record<string, unknown>): void;
  /** A fault in the adapter or in what it depends on. */
  error(message: string, facts?: Record<string, unknown>): void;
}

/** Gives a log for a part of the daemon. */
export type LogFactory = (component: string) => Log;

/** The platform of the daemons; by default the best. */
export const PLATFORM = process.env['SHELL_ADAPTER_CONFORMANCE_PLATFORM'];

/** Whether the rows are run through a gateway, on a worker that it finds in a Redis. */
export const IS_THROUGH_GATEWAY = process.env['SHELL_ADAPTER_CONFORMANCE_GATEWAY'] !== undefined;

/** Reasons by row, by section. */
type Exceptions = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Why some jobs are not found: see the table of the page about platforms. */
const WITHOUT_A_TRACE = 'a process without a tag that has left its terminal, parent and group is not found';

/** Why a shell is ended by the time-out of its command alone: likewise. */
const NOT_ENDED =
  'that a program reads the terminal is not known, so a shell that waits in place of the driver is not ended';
/** Why what waits for input is not told of it: likewise. */
const READING_UNKNOWN = 'that a program reads the terminal is not known';
/** Why an interrupt may come too early: likewise. */
const LOST_INTERRUPT = 'an interrupt of a loop of short programs may be lost';

/**
 * Rows that fail on the platform `posix`, and why, by section. A row that passes all the same is an error, and so is one
 * that does not exist.
 */
const ON_POSIX: Exceptions = {
  'E. Ending the shell': {
    E5c: NOT_ENDED,
  },
  'F. Background and descendants': {
    F5n: WITHOUT_A_TRACE,
    F5o: WITHOUT_A_TRACE,
    F6: WITHOUT_A_TRACE,
  },
  'G. stdin, signals, interactive: the page': {
    G1: READING_UNKNOWN,
    G3: READING_UNKNOWN,
    G5: READING_UNKNOWN,
    G11e: READING_UNKNOWN,
    G15: READING_UNKNOWN,
  },
  'G. stdin, signals, interactive: more': {
    G8: READING_UNKNOWN,
    G14: READING_UNKNOWN,
    G16: READING_UNKNOWN,
  },
  'K. Hostile: builtins': { K3: NOT_ENDED },
  'K. Hostile: forgery': { K10g: NOT_ENDED },
};

/** Rows that fail at times, by section: they are left out. */
const AT_TIMES_ON_POSIX: Exceptions = {
  'G. stdin, signals, interactive: more': { G2b: LOST_INTERRUPT, G2g: LOST_INTERRUPT, G2h: LOST_INTERRUPT },
};

/** The same for rows through a gateway. */
const THROUGH_GATEWAY: Exceptions = {
  'I. Limits': {
    I7: 'max_sessions of the only worker is the room of the cluster: without room the answer is NO_CAPACITY, not SESSION_LIMIT',
  },
};

/** The rows of a section that fail at times in this run, each with the reason. */
export const unsteadyIn = (section: string): Readonly<Record<string, string>> =>
  PLATFORM === 'posix' ? (AT_TIMES_ON_POSIX[section] ?? {}) : {};

/** The rows of a section that fail in this run, each with the reason. */
export const exceptionsIn = (section: string): Readonly<Record<string, string>> => ({
  ...(PLATFORM === 'posix' && ON_POSIX[section]),
  ...(IS_THROUGH_GATEWAY && THROUGH_GATEWAY[section]),
});

/** The platform of the daemons; by default the best. */
export const PLATFORM = process.env['SHELL_ADAPTER_CONFORMANCE_PLATFORM'];

/** Whether the rows are run through a gateway, on a worker that it finds in a Redis. */
export const IS_THROUGH_GATEWAY = process.env['SHELL_ADAPTER_CONFORMANCE_GATEWAY'] !== undefined;

/** Reasons by row, by section. */
type Exceptions = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Why some jobs are not found: see the table of the page about platforms. */
const WITHOUT_A_TRACE = 'a process without a tag that has left its terminal, parent and group is not found';

/**
 * Rows that fail on the platform `posix`, and why, by section. A row that passes all the same is an error, and so is one
 * that does not exist.
 */
const ON_POSIX: Exceptions = {
  'E. Ending the shell': {
    E5c: 'that a program reads the terminal is not known, so a shell that waits in place of the driver is not ended',
  },
  'F. Background and descendants': {
    F5n: WITHOUT_A_TRACE,
    F5o: WITHOUT_A_TRACE,
    F6: WITHOUT_A_TRACE,
  },
};

/** The same for rows through a gateway. */
const THROUGH_GATEWAY: Exceptions = {
  'I. Limits': {
    I7: 'max_sessions of the only worker is the room of the cluster: without room the answer is NO_CAPACITY, not SESSION_LIMIT',
  },
};

/** The rows of a section that fail in this run, each with the reason. */
export const exceptionsIn = (section: string): Readonly<Record<string, string>> => ({
  ...(PLATFORM === 'posix' && ON_POSIX[section]),
  ...(IS_THROUGH_GATEWAY && THROUGH_GATEWAY[section]),
});

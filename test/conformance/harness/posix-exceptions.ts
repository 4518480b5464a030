/** The platform of the daemons; by default the best. */
export const PLATFORM = process.env['SHELL_ADAPTER_CONFORMANCE_PLATFORM'];

/** Why some jobs are not found: see the table of the page about platforms. */
const WITHOUT_A_TRACE = 'a process without a tag that has left its terminal, parent and group is not found';

/**
 * Rows that fail on the platform `posix`, and why, by section. A row that passes all the same is an error, and so is one
 * that does not exist.
 */
const EXCEPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'E. Ending the shell': {
    E5c: 'that a program reads the terminal is not known, so a shell that waits in place of the driver is not ended',
  },
  'F. Background and descendants': {
    F5n: WITHOUT_A_TRACE,
    F5o: WITHOUT_A_TRACE,
    F6: WITHOUT_A_TRACE,
  },
};

/** The rows of a section that fail on the platform of this run, each with the reason. */
export const exceptionsIn = (section: string): Readonly<Record<string, string>> =>
  (PLATFORM === 'posix' && EXCEPTIONS[section]) || {};

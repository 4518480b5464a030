// Bounds of fields that programs without the schemas need: the command line checks its options by them.

/** Most bytes that one `read_output` or `read_recording` returns. */
export const MAX_READ_BYTES = 1024 * 1024;

/** Most lines at the end of an output that one `read_output` returns. */
export const MAX_LAST_LINES = 100_000;

/** Most characters of an output that a client may request in a result: the daemon keeps them in memory. */
export const MAX_RESULT_CHARACTERS = 16 * 1024 * 1024;

/** Most commands that one `list_commands` returns. */
export const MAX_LISTED_COMMANDS = 200;

/** Most recordings that one `list_recordings` returns. */
export const MAX_RECORDINGS = 1000;

/** The largest TCP port. */
export const MAX_PORT = 65_535;

/** Longest wait for something to happen, in milliseconds: an hour. */
export const MAX_WAIT_MS = 3_600_000;

/** Shortest time of a still screen, in milliseconds. */
export const MIN_STABLE_MS = 50;

/** Longest time of a still screen, in milliseconds. */
export const MAX_STABLE_MS = 60_000;

/** Shortest time between two events of `watch_paths`, in milliseconds. */
export const MIN_DEBOUNCE_MS = 20;

/** Longest time between two events of `watch_paths`, in milliseconds. */
export const MAX_DEBOUNCE_MS = 10_000;

/** Shortest lifetime of a page's sign-in, in milliseconds. */
export const MIN_SIGN_IN_MS = 60_000;

/** Longest lifetime of a page's sign-in, in milliseconds: a working day. */
export const MAX_SIGN_IN_MS = 12 * 3_600_000;

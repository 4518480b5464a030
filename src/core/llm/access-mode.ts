/**
 * Access modes of a tool in its working directory. `read`: read files. `write`: also change files in its directory,
 * without asking. `full`: also run any command, use the network, and change files elsewhere, as far as the daemon's
 * user may.
 */
export const ACCESS_MODES = ['read', 'write', 'full'] as const;

/** An access mode of a tool. */
export type AccessMode = (typeof ACCESS_MODES)[number];

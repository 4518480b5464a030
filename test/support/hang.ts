/** Longest time, in milliseconds, of what takes minutes or for ever with a fault, and next to nothing without: a busy machine is slow. */
export const HANG_MS = 15_000;

/** The same, in milliseconds, for what processes do: a machine on which six other things run takes seconds for each of them. */
export const PROCESS_HANG_MS = 60_000;

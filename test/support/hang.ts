/** Longest time, in milliseconds, of what takes minutes or for ever with a fault, and next to nothing without: a busy machine is slow. */
export const HANG_MS = 15_000;

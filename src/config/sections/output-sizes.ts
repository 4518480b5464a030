/** The window on a command's output, in characters (code points). */
export interface OutputSizes {
  /** Outputs up to this size are returned whole. */
  readonly max: number;
  /** Size of the head of a longer output. */
  readonly begin: number;
  /** Size of its tail. */
  readonly end: number;
}

/** The head gets a third of a truncated output, the tail the rest: error messages are mostly at the end. */
const BEGIN_SHARE = 3;

/**
 * The window for the configured sizes. Missing sizes are derived from the others, so that the maximum alone is
 * sufficient: the head gets a third of it and the tail the rest.
 */
export function chooseOutputSizes(max: number, begin: number | undefined, end: number | undefined): OutputSizes {
  const chosenBegin = begin ?? (end === undefined ? Math.floor(max / BEGIN_SHARE) : Math.max(0, max - end));
  return { max, begin: chosenBegin, end: end ?? Math.max(0, max - chosenBegin) };
}

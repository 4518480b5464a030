/** How much of a command's output is kept, in characters (code points). */
export interface OutputSizes {
  /** An output of at most so many characters is returned whole. */
  readonly max: number;
  /** Of a longer one, so many characters from its beginning… */
  readonly begin: number;
  /** …and so many from its end. */
  readonly end: number;
}

/** An output over its limit shows a third of it from the beginning: what went wrong mostly stands at the end. */
const BEGIN_SHARE = 3;

/**
 * The window for the sizes as configured. What is left out follows from the rest, so that setting the maximum alone is
 * enough: the beginning gets a third of it and the end what remains.
 */
export function chooseOutputSizes(max: number, begin: number | undefined, end: number | undefined): OutputSizes {
  const chosenBegin = begin ?? (end === undefined ? Math.floor(max / BEGIN_SHARE) : Math.max(0, max - end));
  return { max, begin: chosenBegin, end: end ?? Math.max(0, max - chosenBegin) };
}

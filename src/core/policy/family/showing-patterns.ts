/**
 * Programs that change the machine, with the arguments for which they only show its state: the usual commands for
 * diagnosis. A pattern matches all arguments, separated by one blank; arguments that do not match are judged by the
 * program's spec.
 */
export type ShowingTable = Readonly<Record<string, RegExp>>;

/** Arguments that each match one of the patterns, in any order; an empty list matches too. */
export const anyOf = (...patterns: string[]): RegExp => new RegExp(`^(?:(?:${patterns.join('|')})(?: |$))*$`);

/** One of the given first arguments, followed by any of the others. */
export const startingWith = (heads: string, ...others: string[]): RegExp =>
  new RegExp(`^(?:${heads})(?:$| (?:(?:${others.join('|')})(?: |$))*$)`);

/** Source of a pattern for an operand. */
export const WORD = String.raw`(?!-)\S+`;

/** Source of a pattern for a plain name. */
export const NAME = String.raw`[\w@][\w@.:+-]*`;

/** A part of a text: what is as it looks, a character that is not seen or changes its surroundings, or letters beyond ASCII. */
export interface TextPiece {
  readonly kind: 'plain' | 'special' | 'foreign';
  readonly text: string;
}

/**
 * Characters that show nothing, look like a space, or turn the order of what follows: controls, formats such as
 * U+202E, line separators, spaces other than U+0020, private and unassigned ones, lone surrogates, and those that
 * Unicode calls default ignorable. The braille blank is none of these, and is seen as little.
 */
const SPECIAL = /(?![ \n])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;
const PIECES = new RegExp(`(${SPECIAL.source})|([ -~\\n]+)|[^]`, 'gu');

/** Most characters that are named in the title of a part. */
const MAX_NAMED = 12;

/** Splits a text into parts; together they are the text. Special characters are parts of their own. */
export function piecesOf(text: string): readonly TextPiece[] {
  const pieces: TextPiece[] = [];
  for (const [found, special, plain] of text.matchAll(PIECES)) {
    const kind = special !== undefined ? 'special' : plain !== undefined ? 'plain' : 'foreign';
    const last = pieces.at(-1);
    if (kind === 'foreign' && last?.kind === 'foreign') pieces.splice(-1, 1, { kind, text: last.text + found });
    else pieces.push({ kind, text: found });
  }
  return pieces;
}

/** Names the characters of a text by their numbers, such as `U+202E`. */
export function codePointsOf(text: string): string {
  const names = Array.from(text, (character) => {
    const number = character.codePointAt(0) ?? 0;
    return `U+${number.toString(16).toUpperCase().padStart(4, '0')}`;
  });
  return names.length <= MAX_NAMED ? names.join(' ') : `${names.slice(0, MAX_NAMED).join(' ')} …`;
}

/** The escapes of a format that all shells resolve alike: sh leaves `\x72` as it stands, for one. */
const ESCAPES: Readonly<Record<string, string>> = {
  '\\\\': '\\',
  '\\a': '\x07',
  '\\b': '\b',
  '\\f': '\f',
  '\\n': '\n',
  '\\r': '\r',
  '\\t': '\t',
  '\\v': '\v',
};
const PIECES = /(%[\s\S]?|\\[0-7]{1,3}|\\[\s\S]?)/;
/** Longest text that is worked out, in characters: a format is repeated for its arguments. */
const MAX_LENGTH = 65_536;

/**
 * The output of `printf FORMAT ARGUMENT...`, whose format is repeated until no argument is left.
 * @returns undefined where it has conversions other than `%s` and `%%`, or escapes that shells differ about
 */
export function formatted(format: string, args: readonly string[]): string | undefined {
  const pieces = format.split(PIECES);
  const perRound = pieces.filter((piece) => piece === '%s').length;
  const rounds = perRound === 0 ? 1 : Math.max(1, Math.ceil(args.length / perRound));
  if (format.length * rounds > MAX_LENGTH) return undefined;
  const left = [...args];
  const texts = Array.from({ length: rounds }, () =>
    pieces.map((piece) => (piece === '%s' ? (left.shift() ?? '') : fixedText(piece))),
  ).flat();
  return texts.includes(undefined) ? undefined : texts.join('');
}

/** The text of a part of a format that takes no argument. */
function fixedText(piece: string): string | undefined {
  if (piece === '%%') return '%';
  if (piece.startsWith('%')) return undefined;
  if (!piece.startsWith('\\')) return piece;
  const code = /^\\([0-7]+)$/.exec(piece)?.[1];
  return code === undefined ? ESCAPES[piece] : asciiText(parseInt(code, 8));
}

/** A byte above is a part of a character, and of which is not known here. */
const asciiText = (code: number): string | undefined => (code < 0x80 ? String.fromCharCode(code) : undefined);

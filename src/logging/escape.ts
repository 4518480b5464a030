/**
 * Characters that must be escaped in a record: control characters (C0, DEL, C1), line and paragraph separators,
 * bidirectional controls, and lone surrogates. Records can contain output of commands: it must neither start a record
 * of its own nor send control sequences to the terminal that shows the log.
 */
const UNSAFE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]/gu;

const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** The text on one line, with unsafe characters written as in JSON (`\n`, `\u001b`). */
export function escapeLine(text: string): string {
  return text.replace(UNSAFE, (character) => {
    return SHORT_ESCAPES[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

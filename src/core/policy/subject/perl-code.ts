/**
 * A substitution or transliteration that runs no code: no `e` flag, no variables except those of the match, no code in
 * its pattern. Source: perlop(1), perlre(1).
 */
const SUBSTITUTION = /^(?:s|y|tr)([/|,#])(?:(?!\1|\(\?\??\{)[^@$`]|\$(?=\d|\1))*\1(?:(?!\1)[^@$`]|\$\d)*\1[gi]*$/;

/** Prints lines, optionally those that match a pattern. */
const PRINTING = /^print(?: (?:if|unless) \/(?:(?!\(\?\??\{)[^@$`/])*\/i?)?$/;

/** Whether Perl code only edits text. */
export const isTextEditing = (code: string): boolean => {
  const trimmed = code.trim().replace(/;$/, '');
  return [trimmed].every(isHarmless) || trimmed.split(/;\s*/).every(isHarmless);
};

const isHarmless = (code: string): boolean => SUBSTITUTION.test(code) || PRINTING.test(code);

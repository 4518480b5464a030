/**
 * Limits of the analysis. Text that exceeds one is `obfuscated`: it is never analysed in part and classified as
 * harmless. Together they keep the worst text found so far (nested substitutions, here-documents) at about 100 ms.
 */
export const POLICY_LIMITS = {
  /** Longest command text, in UTF-16 units: parse time is quadratic in depth times length. */
  maxTextLength: 32 * 1024,
  /** Longest run of blanks: more blanks push a command out of a reader's sight. */
  maxBlanks: 80,
  /** Here-documents in one text: parse time is quadratic in their number. */
  maxHereDocuments: 64,
  /** Nested expansions and substitutions: the parser reads each level again. */
  maxNesting: 10,
  /** Nested syntax. */
  maxSyntaxDepth: 150,
  /** Nested commands and shell texts: `sudo sh -c "env …"`, aliases, functions. */
  maxDepth: 12,
  /** Simple commands in one request, at any depth. */
  maxCommands: 200,
  /** Syntax nodes in one request. */
  maxNodes: 20_000,
  /** Words that the braces of one word expand to. */
  maxBraceWords: 64,
  /** Words of one command, after brace expansion; also its assignments. Further words count as unknown. */
  maxWords: 1024,
  /** Redirections of one command. */
  maxRedirects: 32,
  /** Longest script of `sed` or `awk` that is analysed, in characters. */
  maxScriptLength: 4096,
  /** Longest text of a command in a verdict, in characters. */
  maxShownText: 200,
  /** Reasons in a verdict. */
  maxReasons: 20,
} as const;

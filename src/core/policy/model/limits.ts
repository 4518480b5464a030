/**
 * Bounds of the analysis. What goes beyond one of them is `obfuscated`: it is never analysed in part and called harmless.
 * Together they keep the worst text found so far (nested substitutions, here-documents) around 100 ms.
 */
export const POLICY_LIMITS = {
  /** Longest command text, in UTF-16 units: the parser is quadratic in depth times length. */
  maxTextLength: 32 * 1024,
  /** Longest row of blanks: more of them push a command out of a reader's sight. */
  maxBlanks: 80,
  /** Here-documents in one text: the parser is quadratic in their number. */
  maxHereDocuments: 64,
  /** Expansions and substitutions within each other: the parser reads each level again. */
  maxNesting: 10,
  /** Syntax within each other. */
  maxSyntaxDepth: 150,
  /** Commands and shell texts that others run: `sudo sh -c "env …"`, aliases, functions. */
  maxDepth: 12,
  /** Simple commands in one request, at any depth. */
  maxCommands: 200,
  /** Nodes of syntax in one request. */
  maxNodes: 20_000,
  /** Words that braces of one word may stand for. */
  maxBraceWords: 64,
  /** Words of one command, after braces; also its assignments. What comes after them counts as unknown. */
  maxWords: 1024,
  /** Redirections of one command. */
  maxRedirects: 32,
  /** Longest script of `sed` or `awk` that is looked at, in characters. */
  maxScriptLength: 4096,
  /** Longest text of a command in a verdict, in characters. */
  maxShownText: 200,
  /** Reasons in a verdict. */
  maxReasons: 20,
} as const;

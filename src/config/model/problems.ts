export interface ConfigurationProblem {
  /** The file; for a value from another source, `environment variable NAME` or `command line`. */
  readonly file: string;
  /** From 1; undefined when the value is in no file. */
  readonly line: number | undefined;
  /** From 1, in UTF-16 units; undefined when the value is in no file. */
  readonly column: number | undefined;
  /** The key, such as `adapter.prewarm.sessions`; empty for a problem of the whole file. */
  readonly path: string;
  readonly message: string;
}

/** The configuration is invalid. `problems` lists all problems, `message` describes them for people. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  readonly problems: readonly ConfigurationProblem[];

  constructor(problems: readonly ConfigurationProblem[], options: { cause?: unknown } = {}) {
    super(formatProblems(problems), options.cause === undefined ? undefined : { cause: options.cause });
    this.problems = problems;
  }
}

/** A position in a file; line and column start at 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** @param path of the key, as it is or as text */
export const problemIn = (
  file: string,
  path: readonly PropertyKey[] | string,
  message: string,
  position?: Position,
): ConfigurationProblem => ({
  file,
  line: position?.line,
  column: position?.column,
  path: typeof path === 'string' ? path : formatPath(path),
  message,
});

/** The error of one key, which is found when its value is used: its position is not known any more. */
export const configurationError = (
  path: string,
  message: string,
  { file = 'configuration', cause }: { readonly file?: string | undefined; readonly cause?: unknown } = {},
): ConfigurationError => new ConfigurationError([problemIn(file, path, message)], { cause });

/** Formats the path of a key for messages: `adapter.environment.pass[2]`. */
export function formatPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? String(step) : `${text}.${String(step)}`;
  }, '');
}

/** Formats `FILE:LINE:COLUMN: adapter.key: message`, without the unknown parts. */
function formatProblem({ file, line, column, path, message }: ConfigurationProblem): string {
  const place = line === undefined || column === undefined ? file : `${file}:${line}:${column}`;
  return [place, path, message].filter((part) => part !== '').join(': ');
}

function formatProblems(problems: readonly ConfigurationProblem[]): string {
  const lines = problems.map(formatProblem);
  if (lines.length === 1) return lines.join('');
  return [`${lines.length} problems in the configuration:`, ...lines.map((line) => `  ${line}`)].join('\n');
}

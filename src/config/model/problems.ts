/** One thing that is wrong with the configuration, and where. */
export interface ConfigurationProblem {
  /** The file; or, for a value from elsewhere, `environment variable NAME` or `command line`. */
  readonly file: string;
  /** From 1; undefined when the value is in no file. */
  readonly line: number | undefined;
  /** From 1, in UTF-16 units; undefined when the value is in no file. */
  readonly column: number | undefined;
  /** The key, such as `adapter.prewarm.sessions`; empty when the file as a whole is meant. */
  readonly path: string;
  /** What is wrong, and what would be right. */
  readonly message: string;
}

/** The configuration cannot be used. `problems` has everything that is wrong with it, `message` prints it for a person. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  readonly problems: readonly ConfigurationProblem[];

  constructor(problems: readonly ConfigurationProblem[], options: { cause?: unknown } = {}) {
    super(formatProblems(problems), options.cause === undefined ? undefined : { cause: options.cause });
    this.problems = problems;
  }
}

/** A key's path as it is written in messages: `adapter.environment.pass[2]`. */
export function formatPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? String(step) : `${text}.${String(step)}`;
  }, '');
}

/** `FILE:LINE:COLUMN: adapter.key: message`, with the parts that are known. */
function formatProblem({ file, line, column, path, message }: ConfigurationProblem): string {
  const place = line === undefined || column === undefined ? file : `${file}:${line}:${column}`;
  return [place, path, message].filter((part) => part !== '').join(': ');
}

function formatProblems(problems: readonly ConfigurationProblem[]): string {
  const lines = problems.map(formatProblem);
  if (lines.length === 1) return lines.join('');
  return [`${lines.length} problems in the configuration:`, ...lines.map((line) => `  ${line}`)].join('\n');
}

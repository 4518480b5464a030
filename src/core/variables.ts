/** Whether a variable's name matches a pattern; `*` at the end of the pattern matches any text. */
export const isNamedBy = (pattern: string, name: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;

/** An environment that is never exposed as a whole: callers pick variables by name. */
export class Variables {
  readonly #all: Readonly<Record<string, string | undefined>>;

  constructor(all: Readonly<Record<string, string | undefined>>) {
    this.#all = all;
  }

  /** The variables that are set and match one of the patterns. */
  pick(patterns: readonly string[]): Record<string, string> {
    const picked: Record<string, string> = {};
    for (const [name, value] of Object.entries(this.#all)) {
      if (value !== undefined && patterns.some((pattern) => isNamedBy(pattern, name))) picked[name] = value;
    }
    return picked;
  }
}

/** Whether a variable's name is the one of a pattern; `*` at the end of the pattern stands for anything. */
export const isNamedBy = (pattern: string, name: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;

/** An environment of which nothing is shown as a whole: who needs variables of it names them. */
export class Variables {
  readonly #all: Readonly<Record<string, string | undefined>>;

  constructor(all: Readonly<Record<string, string | undefined>>) {
    this.#all = all;
  }

  /** The variables that are set and that some pattern names. */
  pick(patterns: readonly string[]): Record<string, string> {
    const picked: Record<string, string> = {};
    for (const [name, value] of Object.entries(this.#all)) {
      if (value !== undefined && patterns.some((pattern) => isNamedBy(pattern, name))) picked[name] = value;
    }
    return picked;
  }
}

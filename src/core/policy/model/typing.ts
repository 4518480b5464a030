/** How a program executes typed input: as lines of a shell, which can be judged, or as code, which cannot. */
export type TypedLanguage = 'shell' | 'code';

/** Conditions under which a program takes typed input, and how it executes that input. */
export interface TypingProgram {
  readonly language: TypedLanguage;
  /**
   * - `input`: its standard input has to be the terminal.
   * - `terminal`: it opens the terminal itself, whatever its standard input is.
   * - `screen`: likewise, but only when its output is a terminal. Otherwise it just copies its input.
   */
  readonly reads: 'input' | 'terminal' | 'screen';
  /** Whether it takes typed input with these arguments (without its own name). */
  readonly takes: (args: readonly string[]) => boolean;
}

/** Programs that execute typed input, by name. Programs in no table treat it as data. */
export type TypingTable = Readonly<Record<string, TypingProgram>>;

/** Whether a file name denotes the terminal, where a script is expected. */
export const isTerminalName = (arg: string): boolean =>
  /^(?:-|\/dev\/(?:stdin|tty|fd\/0)|\/proc\/[^/]+\/fd\/0)$/.test(arg);

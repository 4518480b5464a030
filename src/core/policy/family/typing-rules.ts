import { isTerminalName, type TypingProgram } from '../model/typing.js';

/** Options with which a program only prints information about itself and exits. */
const INFORMS = /^(?:--version|--help|-version|-help)$/;

/**
 * Splits arguments into options before the first operand, and operands. `valued` lists options that take the next
 * argument.
 */
export function splitOptions(
  args: readonly string[],
  valued: ReadonlySet<string>,
): { options: string[]; operands: string[] } {
  const options: string[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? '';
    if (arg === '--') return { options, operands: args.slice(index + 1) };
    if (!/^[-+]./.test(arg)) return { options, operands: args.slice(index) };
    options.push(arg);
    if (valued.has(arg)) index += 1;
  }
  return { options, operands: [] };
}

/** The words of a text, separated by blanks. */
export const wordsOf = (text = ''): ReadonlySet<string> => new Set(text.split(' ').filter((word) => word !== ''));

/** Options of an interpreter that decide whether it reads the terminal. */
interface ReplOptions {
  /** Options that take a separate value. */
  readonly valued?: string;
  /** Options that supply the program, or that make the interpreter print something and exit. */
  readonly ends?: RegExp;
  /** Options with which it reads the terminal after its script. */
  readonly stays?: RegExp;
  /** Names of scripts or subcommands that read the terminal. */
  readonly typed?: RegExp;
}

/** An interpreter: it reads the terminal when no program is given. */
export function repl({ valued, ends = /^$/, stays = /^$/, typed = /^$/ }: ReplOptions): TypingProgram['takes'] {
  const taking = wordsOf(valued);
  return (args) => {
    const { options, operands } = splitOptions(args, taking);
    const [script] = operands;
    if (script !== undefined && typed.test(script)) return true;
    if (options.some((option) => INFORMS.test(option))) return false;
    if (options.some((option) => stays.test(option))) return true;
    if (options.some((option) => ends.test(option))) return false;
    return script === undefined || isTerminalName(script);
  };
}

/** A program that reads the terminal unless an option prevents it. */
export const unless =
  (ends: RegExp = /^$/): TypingProgram['takes'] =>
  (args) =>
    !args.some((arg) => INFORMS.test(arg) || ends.test(arg));

/** A program that reads the terminal unless it has more than `most` operands. */
export const upTo =
  (most: number, valued: string, ends: RegExp = /^$/): TypingProgram['takes'] =>
  (args) => {
    const taking = wordsOf(valued);
    const operands: string[] = [];
    // Options may stand between operands.
    for (let rest = args; rest.length > 0;) {
      const parts = splitOptions(rest, taking);
      if (parts.options.some((option) => INFORMS.test(option) || ends.test(option))) return false;
      operands.push(...parts.operands.slice(0, 1));
      rest = parts.operands.slice(1);
    }
    return operands.length <= most;
  };

/** `-f -`: a script is read from the terminal. */
export const typedScript: TypingProgram['takes'] = (args) =>
  args.some((arg, index) => {
    const [, attached] = /^(?:-f|--(?:file|makefile)=)(.*)$/s.exec(arg) ?? [];
    const file = attached === '' || /^--(?:make)?file$/.test(arg) ? (args[index + 1] ?? '') : attached;
    return isTerminalName(file ?? '');
  });

/** A program that executes typed input as code of its own language. */
export const typedCode = (takes: TypingProgram['takes'], reads: TypingProgram['reads'] = 'input'): TypingProgram => ({
  language: 'code',
  reads,
  takes,
});

/** A program that executes typed input as lines of a shell. */
export const typedShell = (takes: TypingProgram['takes']): TypingProgram => ({
  language: 'shell',
  reads: 'input',
  takes,
});

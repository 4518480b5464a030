import { isTerminalName, type TypingProgram } from './model.js';

/** Whether a program takes typed input with these arguments (without its own name). */
export type Takes = TypingProgram['takes'];

/** Options with which a program only prints information about itself and exits. */
const INFORMS = /^(?:--version|--help|-version|-help)$/;
const NEVER = /^$/;

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

/** The words of a text, separated by blanks or line ends. */
export const wordsOf = (text = ''): ReadonlySet<string> => new Set(text.split(/\s+/).filter((word) => word !== ''));

/** What a condition says besides its first word. */
interface Clauses {
  /** Options with which the program reads no terminal: it gets its program from them, or prints something and exits. */
  readonly ends: RegExp;
  /** Options with which it reads the terminal after its script. */
  readonly stays: RegExp;
  /** Names of scripts or subcommands that read the terminal. */
  readonly names: RegExp;
  /** Options that take a separate value. */
  readonly valued: ReadonlySet<string>;
}

/** An interpreter: it reads the terminal when no program is given. */
const repl =
  ({ valued, ends, stays, names }: Clauses): Takes =>
  (args) => {
    const { options, operands } = splitOptions(args, valued);
    const [script] = operands;
    if (script !== undefined && names.test(script)) return true;
    if (options.some((option) => INFORMS.test(option))) return false;
    if (options.some((option) => stays.test(option))) return true;
    if (options.some((option) => ends.test(option))) return false;
    return script === undefined || isTerminalName(script);
  };

/** A program that reads the terminal unless an option prevents it. */
const unless =
  ({ ends }: Clauses): Takes =>
  (args) =>
    !args.some((arg) => INFORMS.test(arg) || ends.test(arg));

/** A program that reads the terminal unless it has more than `most` operands. */
const upTo =
  (most: number, { valued, ends }: Clauses): Takes =>
  (args) => {
    const operands: string[] = [];
    // Options may stand between operands.
    for (let rest = args; rest.length > 0;) {
      const parts = splitOptions(rest, valued);
      if (parts.options.some((option) => INFORMS.test(option) || ends.test(option))) return false;
      operands.push(...parts.operands.slice(0, 1));
      rest = parts.operands.slice(1);
    }
    return operands.length <= most;
  };

/** `-f -`: a script is read from the terminal. */
const typedScript: Takes = (args) =>
  args.some((arg, index) => {
    const [, attached] = /^(?:-f|--(?:file|makefile)=)(.*)$/s.exec(arg) ?? [];
    const file = attached === '' || /^--(?:make)?file$/.test(arg) ? (args[index + 1] ?? '') : attached;
    return isTerminalName(file ?? '');
  });

const CLAUSE = / (ends|stays|names|unless) \/(.+?)\/(i?)(?= (?:ends|stays|names|unless|valued) |$)| valued (.+)$/g;

function clausesIn(text: string): Clauses {
  const found: { ends: RegExp; stays: RegExp; names: RegExp; valued: ReadonlySet<string> } = {
    ends: NEVER,
    stays: NEVER,
    names: NEVER,
    valued: new Set(),
  };
  for (const [, name, source = '', flags, valued] of text.matchAll(CLAUSE)) {
    if (valued !== undefined) found.valued = wordsOf(valued);
    else found[name === 'unless' ? 'ends' : (name as 'stays')] = new RegExp(source, flags);
  }
  return found;
}

/**
 * Reads the condition under which a program takes typed input: `always`, `unless /OPTIONS/`, `upto OPERANDS`, `script`,
 * or `repl ends /OPTIONS/ stays /OPTIONS/ names /SCRIPTS/`; `valued OPTIONS` lists options with a value. Undefined for
 * another text.
 */
export function typedWhen(text: string): Takes | undefined {
  const [kind = '', count] = text.split(' ', 2);
  const clauses = clausesIn(` ${text}`);
  if (kind === 'always' || kind === 'unless') return unless(clauses);
  if (kind === 'upto') return upTo(Number(count), clauses);
  if (kind === 'repl') return repl(clauses);
  return kind === 'script' ? typedScript : undefined;
}

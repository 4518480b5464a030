import { isTerminalName } from './model.js';
import type { OptionSpec, ProgramSpec } from './subject/program-spec.js';

/** Options and subcommands of a program, by their names. */
export interface KnownWords {
  readonly options: Readonly<Record<string, OptionSpec>>;
  readonly subcommands: Readonly<Record<string, ProgramSpec>>;
}

/** Whether a program takes typed input with these arguments (without its own name). */
export type Takes = (args: readonly string[], known: KnownWords) => boolean;

/** Options with which a program only prints information about itself and exits. */
const INFORMS = /^(?:--version|--help|-version|-help)$/;
const NEVER = /^$/;

/** Splits arguments into options before the first operand, and operands. */
export function splitOptions(
  args: readonly string[],
  known: Readonly<Record<string, OptionSpec>>,
): { options: string[]; operands: string[] } {
  const options: string[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? '';
    if (arg === '--') return { options, operands: args.slice(index + 1) };
    if (!/^[-+]./.test(arg)) return { options, operands: args.slice(index) };
    options.push(arg);
    // Shells take `+o` with a value as well.
    const name = arg.replace(/^\+/, '-');
    const spec = Object.hasOwn(known, name) ? known[name] : undefined;
    if (spec?.value && spec.isLast !== true && spec.isAttached !== true) index += 1;
  }
  return { options, operands: [] };
}

/** What a condition says besides its first word. */
interface Clauses {
  /** Options with which the program reads no terminal: it gets its program from them, or prints something and exits. */
  readonly ends: RegExp;
  /** Options with which it reads the terminal after its script. */
  readonly stays: RegExp;
  /** Names of scripts or subcommands that read the terminal. */
  readonly names: RegExp;
}

/** An interpreter: it reads the terminal when no program is given. */
const repl =
  ({ ends, stays, names }: Clauses): Takes =>
  (args, known) => {
    const { options, operands } = splitOptions(args, known.options);
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
  (most: number, { ends }: Clauses): Takes =>
  (args, known) => {
    const operands: string[] = [];
    // Options may stand between operands.
    for (let rest = args; rest.length > 0;) {
      const parts = splitOptions(rest, known.options);
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

const CLAUSE = / (ends|stays|names|unless) \/(.+?)\/(i?)(?= (?:ends|stays|names|unless) |$)/g;

function clausesIn(text: string): Clauses {
  const found = { ends: NEVER, stays: NEVER, names: NEVER };
  for (const [, name, source = '', flags] of text.matchAll(CLAUSE))
    found[name === 'unless' ? 'ends' : (name as 'stays')] = new RegExp(source, flags);
  return found;
}

/**
 * Reads the condition under which a program takes typed input: `always`, `unless /OPTIONS/`, `upto OPERANDS`, `script`,
 * or `repl ends /OPTIONS/ stays /OPTIONS/ names /SCRIPTS/`. Undefined for another text.
 */
export function typedWhen(text: string): Takes | undefined {
  const [kind = '', count] = text.split(' ', 2);
  const clauses = clausesIn(` ${text}`);
  if (kind === 'always' || kind === 'unless') return unless(clauses);
  if (kind === 'upto') return upTo(Number(count), clauses);
  if (kind === 'repl') return repl(clauses);
  return kind === 'script' ? typedScript : undefined;
}

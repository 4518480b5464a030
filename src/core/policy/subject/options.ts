import { type Argument, UNKNOWN } from '../words/argument.js';
import type { GivenOption, OptionSpec, ParsedArguments } from './program-spec.js';

type Options = Readonly<Record<string, OptionSpec>>;

/**
 * Splits options from operands, as getopt_long(3) does: clusters, attached values, abbreviations, `--`.
 * @param stopsAtOperand whether what follows the first operand belongs to another program
 */
export function parseArguments(args: readonly Argument[], options: Options, stopsAtOperand = false): ParsedArguments {
  const given: GivenOption[] = [];
  const operands: Argument[] = [];
  const doubtful: Argument[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index];
    if (!arg) break;
    if (arg.shape === '--') {
      const after = args.slice(index + 1);
      operands.push(...(stopsAtOperand ? after.slice(0, 1) : after));
      return { options: given, operands, doubtful, rest: after.slice(1) };
    }
    if (isDoubtful(arg)) doubtful.push(arg);
    if (isOperand(arg)) {
      operands.push(arg);
      if (stopsAtOperand) return { options: given, operands, doubtful, rest: args.slice(index + 1) };
    } else {
      const read = readOptions(arg, args[index + 1], options);
      given.push(...read.given);
      if (read.takesNext) index += 1;
      if (read.given.some(({ spec }) => spec?.isLast === true))
        return { options: given, operands, doubtful, rest: args.slice(index + 1) };
    }
  }
  return { options: given, operands, doubtful, rest: [] };
}

const isDoubtful = ({ shape }: Argument): boolean => shape.startsWith(UNKNOWN) || shape.startsWith(`-${UNKNOWN}`);

/** A word that is no option. `-` alone stands for standard input. */
const isOperand = ({ shape }: Argument): boolean =>
  !shape.startsWith('-') || shape === '-' || shape.startsWith(`-${UNKNOWN}`);

/** Reads the options of one word, the last of which may take the next word as its value. */
function readOptions(
  arg: Argument,
  next: Argument | undefined,
  options: Options,
): { readonly given: readonly GivenOption[]; readonly takesNext: boolean } {
  const given = arg.shape.startsWith('--') ? readLong(arg, options) : readShort(arg, options);
  const last = given.at(-1);
  if (!last?.spec?.value || last.value !== undefined || last.spec.isAttached === true)
    return { given, takesNext: false };
  return { given: [...given.slice(0, -1), { ...last, value: next }], takesNext: true };
}

/** `--name`, `--name=value`, and abbreviations, for which the most dangerous meaning counts. */
function readLong(arg: Argument, options: Options): readonly GivenOption[] {
  const { name, value } = splitAtEquals(arg);
  const exact = lookUp(options, name);
  if (exact) return [{ name, spec: exact, value }];
  const candidates = Object.keys(options).filter((known) => known.startsWith(name));
  const [worst] = candidates.toSorted((a, b) => severityOf(options[b]) - severityOf(options[a]));
  if (worst === undefined) return [{ name, spec: undefined, value }];
  return [{ name: worst, spec: options[worst], value }];
}

/** The name of an option, and the value that is attached to it. */
function splitAtEquals(arg: Argument): { readonly name: string; readonly value: Argument | undefined } {
  const equals = arg.shape.indexOf('=');
  if (equals === -1) return { name: arg.shape, value: undefined };
  return { name: arg.shape.slice(0, equals), value: tailOf(arg, equals + 1) };
}

/** `-name` as a whole, or a cluster of letters. */
function readShort(arg: Argument, options: Options): readonly GivenOption[] {
  const { name, value } = splitAtEquals(arg);
  const spec = name.length > 2 ? lookUp(options, name) : undefined;
  return spec ? [{ name, spec, value }] : readCluster(arg, options);
}

/** A cluster of letters; the first letter that takes a value gets the remainder. */
function readCluster(arg: Argument, options: Options): readonly GivenOption[] {
  const { shape } = arg;
  const read: GivenOption[] = [];
  for (let at = 1; at < shape.length; at += 1) {
    const name = `-${shape[at] ?? ''}`;
    const spec = lookUp(options, name);
    if (spec?.value !== undefined) {
      const hasRest = at + 1 < shape.length;
      return [...read, { name, spec, value: hasRest ? tailOf(arg, at + 1) : undefined }];
    }
    read.push({ name, spec, value: undefined });
  }
  return read;
}

const lookUp = (options: Options, name: string): OptionSpec | undefined =>
  Object.hasOwn(options, name) ? options[name] : undefined;

/** How much an option may do, of which only the beginning of the name is known. */
const severityOf = (spec: OptionSpec | undefined): number =>
  (spec?.class ? 2 : 0) + (spec?.value?.risk === 'executes' ? 4 : spec?.value?.risk === 'writes' ? 1 : 0);

export const hasOption = ({ options }: ParsedArguments, ...names: readonly string[]): boolean =>
  options.some(({ name }) => names.includes(name));

/** The value of the first of the options that is given. */
export const valueOfOption = ({ options }: ParsedArguments, ...names: readonly string[]): Argument | undefined =>
  options.find(({ name }) => names.includes(name))?.value;

/** Whether the table lists the value of an option as harmless. */
export const isHarmlessValue = ({ harmless }: OptionSpec, value: Argument | undefined): boolean =>
  value?.value !== undefined && harmless?.test(value.value) === true;

export function tailOf(arg: Argument, from: number): Argument {
  const shape = arg.shape.slice(from);
  return { ...arg, shape, value: shape.includes(UNKNOWN) ? undefined : shape };
}

/** A word that may be a subcommand, with the words after it. */
export interface SubcommandReading {
  readonly name: Argument;
  readonly rest: readonly Argument[];
  /** It cannot be the value of an option. */
  readonly isCertain: boolean;
}

/**
 * The ways to read arguments up to the first operand, the likeliest first: the value of an unknown option resembles an
 * operand, so what follows is read as well.
 */
function readingsOf(args: readonly Argument[], options: Options): readonly ParsedArguments[] {
  const readings: ParsedArguments[] = [];
  let rest = args;
  for (;;) {
    const parsed = parseArguments(rest, options, true);
    readings.push(parsed);
    if (parsed.operands.length === 0 || !mayBeValue(parsed)) return readings;
    ({ rest } = parsed);
  }
}

/** The words of a program's arguments that may be its subcommand, the likeliest first. */
export const subcommandsIn = (args: readonly Argument[], options: Options): readonly SubcommandReading[] =>
  readingsOf(args, options).flatMap((parsed) => {
    const [name] = parsed.operands;
    return name ? [{ name, rest: parsed.rest, isCertain: !mayBeValue(parsed) }] : [];
  });

/** Arguments up to the first operand, with the options of all readings. */
export function parseBeforeOperand(args: readonly Argument[], options: Options): ParsedArguments {
  const readings = readingsOf(args, options);
  const [first = parseArguments(args, options, true)] = readings;
  return readings.length < 2 ? first : { ...first, options: readings.flatMap((parsed) => parsed.options) };
}

/** Whether the first operand may be the value of the option before it. */
function mayBeValue({ options }: ParsedArguments): boolean {
  const last = options.at(-1);
  return last !== undefined && last.spec === undefined && last.value === undefined;
}

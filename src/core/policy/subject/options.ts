import { type Argument, UNKNOWN } from '../words/argument.js';
import type { OptionSpec } from './program-spec.js';

/** An option in a command's arguments. */
interface GivenOption {
  readonly name: string;
  readonly spec: OptionSpec | undefined;
  readonly value: Argument | undefined;
}

/** Arguments, split into options and operands. */
export interface ParsedArguments {
  readonly options: readonly GivenOption[];
  readonly operands: readonly Argument[];
  /** Arguments that may be an option or an operand, which is known only at run time. Also listed among the operands. */
  readonly doubtful: readonly Argument[];
  /** The arguments after the first operand, unparsed, when parsing stopped there. */
  readonly rest: readonly Argument[];
}

/** Rules for parsing arguments. */
interface ReadingRules {
  readonly options: Readonly<Record<string, OptionSpec>>;
  /** Whether parsing stops at the first operand, because the remaining arguments belong to another program. */
  readonly stopsAtOperand?: boolean;
}

/** Splits options from operands, as getopt_long(3) does: clusters, attached values, abbreviations, `--`. */
export function parseArguments(args: readonly Argument[], { options, stopsAtOperand }: ReadingRules): ParsedArguments {
  const given: GivenOption[] = [];
  const operands: Argument[] = [];
  const doubtful: Argument[] = [];
  let rest: readonly Argument[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index];
    if (!arg) break;
    const { shape } = arg;
    if (shape === '--') {
      const [first, ...others] = args.slice(index + 1);
      if (first) operands.push(first, ...(stopsAtOperand ? [] : others));
      rest = others;
      break;
    }
    if (shape.startsWith(UNKNOWN) || shape.startsWith(`-${UNKNOWN}`)) doubtful.push(arg);
    if (!shape.startsWith('-') || shape === '-' || shape.startsWith(`-${UNKNOWN}`)) {
      operands.push(arg);
      if (!stopsAtOperand) continue;
      rest = args.slice(index + 1);
      break;
    }
    const read = shape.startsWith('--') ? readLong(arg, options) : readShort(arg, options);
    const last = read.at(-1);
    const needsValue = last?.spec?.value !== undefined && last.value === undefined;
    given.push(...read.slice(0, -1));
    if (last) given.push(needsValue ? { ...last, value: args[index + 1] } : last);
    if (needsValue) index += 1;
  }
  return { options: given, operands, doubtful, rest };
}

/** `--name`, `--name=value`, and abbreviations, for which the most dangerous meaning counts. */
function readLong(arg: Argument, options: ReadingRules['options']): readonly GivenOption[] {
  const equals = arg.shape.indexOf('=');
  const name = equals === -1 ? arg.shape : arg.shape.slice(0, equals);
  const value = equals === -1 ? undefined : tailOf(arg, equals + 1);
  const exact = lookUp(options, name);
  if (exact) return [{ name, spec: exact, value }];
  const candidates = Object.keys(options).filter((known) => known.startsWith(name));
  const [worst] = candidates.toSorted((a, b) => severityOf(options[b]) - severityOf(options[a]));
  if (worst === undefined) return [{ name, spec: undefined, value }];
  return [{ name: worst, spec: options[worst], value }];
}

/** `-name` as a whole, or a cluster of letters; the first letter that takes a value gets the remainder. */
function readShort(arg: Argument, options: ReadingRules['options']): readonly GivenOption[] {
  const { shape } = arg;
  const equals = shape.indexOf('=');
  const whole = equals === -1 ? shape : shape.slice(0, equals);
  const spec = whole.length > 2 ? lookUp(options, whole) : undefined;
  if (spec) return [{ name: whole, spec, value: equals === -1 ? undefined : tailOf(arg, equals + 1) }];
  const read: GivenOption[] = [];
  for (let at = 1; at < shape.length; at += 1) {
    const name = `-${shape[at] ?? ''}`;
    const letter = lookUp(options, name);
    const takesRest = letter?.value !== undefined && at + 1 < shape.length;
    read.push({ name, spec: letter, value: takesRest ? tailOf(arg, at + 1) : undefined });
    if (letter?.value !== undefined) break;
  }
  return read;
}

const lookUp = (options: ReadingRules['options'], name: string): OptionSpec | undefined =>
  Object.hasOwn(options, name) ? options[name] : undefined;

const severityOf = (spec: OptionSpec | undefined): number =>
  (spec?.class ? 2 : 0) + (spec !== undefined && isExecuted(spec) ? 4 : spec?.value === 'write' ? 1 : 0);

/** Whether the value of an option is executed in some way. */
export const isExecuted = ({ value }: OptionSpec): boolean =>
  value === 'shell' || value === 'source' || value === 'code';

/** The end of an argument as a separate argument. */
export function tailOf(arg: Argument, from: number): Argument {
  const shape = arg.shape.slice(from);
  return { ...arg, shape, value: shape.includes(UNKNOWN) ? undefined : shape };
}

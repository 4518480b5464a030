import type { Argument } from '../words/argument.js';
import { parseArguments } from './options.js';
import type { OptionSpec, ParsedArguments } from './program-spec.js';

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
function readingsOf(
  args: readonly Argument[],
  options: Readonly<Record<string, OptionSpec>>,
): readonly ParsedArguments[] {
  const readings: ParsedArguments[] = [];
  let rest = args;
  for (;;) {
    const parsed = parseArguments(rest, { options, stopsAtOperand: true });
    readings.push(parsed);
    if (parsed.operands.length === 0 || !mayBeValue(parsed)) return readings;
    ({ rest } = parsed);
  }
}

/** The words of a program's arguments that may be its subcommand, the likeliest first. */
export const subcommandsIn = (
  args: readonly Argument[],
  options: Readonly<Record<string, OptionSpec>>,
): readonly SubcommandReading[] =>
  readingsOf(args, options).flatMap((parsed) => {
    const [name] = parsed.operands;
    return name ? [{ name, rest: parsed.rest, isCertain: !mayBeValue(parsed) }] : [];
  });

/** Arguments up to the first operand, with the options of all readings. */
export function parseBeforeOperand(
  args: readonly Argument[],
  options: Readonly<Record<string, OptionSpec>>,
): ParsedArguments {
  const readings = readingsOf(args, options);
  const [first = parseArguments(args, { options, stopsAtOperand: true })] = readings;
  return readings.length < 2 ? first : { ...first, options: readings.flatMap((parsed) => parsed.options) };
}

/** Whether the first operand may be the value of the option before it. */
function mayBeValue({ options }: ParsedArguments): boolean {
  const last = options.at(-1);
  return last !== undefined && last.spec === undefined && last.value === undefined;
}

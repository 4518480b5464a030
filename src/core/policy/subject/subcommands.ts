import type { Argument } from '../words/argument.js';
import { type ParsedArguments, parseArguments } from './options.js';
import type { OptionSpec } from './program-spec.js';

/** A word that may be a subcommand, with the words after it. */
export interface SubcommandReading {
  readonly name: Argument;
  readonly rest: readonly Argument[];
  /** It cannot be the value of an option. */
  readonly isCertain: boolean;
}

/**
 * The words of a program's arguments that may be its subcommand, the likeliest first: the value of an unknown option
 * resembles a subcommand, so the word after it counts as well.
 */
export function subcommandsIn(
  args: readonly Argument[],
  options: Readonly<Record<string, OptionSpec>>,
): readonly SubcommandReading[] {
  const found: SubcommandReading[] = [];
  let rest: readonly Argument[] = args;
  for (;;) {
    const parsed: ParsedArguments = parseArguments(rest, { options, stopsAtOperand: true });
    const [name] = parsed.operands;
    if (!name) return found;
    const isCertain = !mayBeValue(parsed);
    found.push({ name, rest: parsed.rest, isCertain });
    if (isCertain) return found;
    rest = parsed.rest;
  }
}

/** Whether the first operand may be the value of the option before it. */
function mayBeValue({ options }: ParsedArguments): boolean {
  const last = options.at(-1);
  return last !== undefined && last.spec === undefined && last.value === undefined;
}

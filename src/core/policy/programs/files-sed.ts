import { POLICY_LIMITS } from '../model.js';
import type { CommandAnalysis } from '../subject/command-analysis.js';
import { type Argument, literal } from '../words/argument.js';

/** Line numbers, ranges and blocks, which only select lines. */
const ADDRESS = /^(?:\s|;|\d+|\$|[,~+!]|[{}])+/;

/** Commands whose argument reaches to the end of the line. */
const TAKES_LINE = '#aicrRbtT:lLqQvwWe';

/** Those of them whose argument also ends at a semicolon or a brace. */
const ENDS_AT_SEMICOLON = 'btTlLqQv:';

const PLAIN = '=dDgGhHnNpPxzF';

interface SedCommand {
  /** What it does beyond editing text. */
  readonly effects: readonly string[];
  readonly rest: string;
}

/**
 * The commands of a sed script that do more than edit text: `e…` runs a program, `w…` writes a file, `r…` reads one.
 * Undefined, as the last element, stands for a part that was not understood.
 */
function sideEffectsOf(script: string): readonly (string | undefined)[] {
  const found: string[] = [];
  let rest = script.replace(ADDRESS, '');
  while (rest !== '') {
    const command = readCommand(rest);
    if (!command) return [...found, undefined];
    found.push(...command.effects);
    rest = command.rest.replace(ADDRESS, '');
  }
  return found;
}

function readCommand(text: string): SedCommand | undefined {
  const [name = ''] = text;
  if (name === '/' || name === '\\') return readPattern(text, name);
  if (name === 's' || name === 'y') return readReplacement(text, name);
  if (TAKES_LINE.includes(name)) return readLine(text, name);
  return PLAIN.includes(name) ? { effects: [], rest: text.slice(1) } : undefined;
}

/** An address by pattern: `/…/`, or `\cERc` with another delimiter. */
function readPattern(text: string, name: '/' | '\\'): SedCommand | undefined {
  const after = name === '/' ? textAfter(text.slice(1), '/', true) : textAfter(text.slice(2), text[1] ?? '', true);
  return after === undefined ? undefined : { effects: [], rest: after.replace(/^[IM]+/, '') };
}

/** `s/…/…/flags` and `y/…/…/`. */
function readReplacement(text: string, name: 's' | 'y'): SedCommand | undefined {
  const [, delimiter = ''] = text;
  const replacement = textAfter(text.slice(2), delimiter, name === 's');
  const flags = replacement === undefined ? undefined : textAfter(replacement, delimiter, false);
  if (flags === undefined) return undefined;
  const [letters = ''] = /^[gpiImMe\d]*/.exec(flags) ?? [];
  const runs = letters.includes('e') ? ['e'] : [];
  const rest = flags.slice(letters.length);
  if (!rest.startsWith('w')) return { effects: runs, rest };
  const [line = '', ...more] = rest.split('\n');
  return { effects: [...runs, line], rest: more.join('\n') };
}

/** A command with an argument that may reach to the end of the line. */
function readLine(text: string, name: string): SedCommand {
  const [line = ''] = text.split('\n', 1);
  const [command = ''] = ENDS_AT_SEMICOLON.includes(name) ? (/^[^;}\n]*/.exec(text) ?? []) : [line];
  return { effects: effectsOfLine(line, name), rest: text.slice(command.length) };
}

function effectsOfLine(line: string, name: string): readonly string[] {
  switch (name) {
    case 'e':
    case 'r':
      return [line];
    case 'w':
    case 'W':
      return [`w${line.slice(1)}`];
    case 'R':
      return [`r${line.slice(1)}`];
    default:
      return [];
  }
}

/** A bracket expression, in which a delimiter has no meaning. */
const BRACKETS = /^\[\^?\]?(?:\[:\w+:\]|[^\]])*\]/;

/**
 * The text after the next delimiter that is neither escaped nor in the brackets of a pattern; undefined when it is
 * missing.
 */
function textAfter(text: string, delimiter: string, isPattern: boolean): string | undefined {
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === delimiter) return text.slice(at + 1);
    else if (isPattern && text[at] === '[') at += (BRACKETS.exec(text.slice(at))?.[0].length ?? 1) - 1;
  }
  return undefined;
}

/** Scripts of sed may write files and run commands. Source: GNU sed manual, "Commands" (e, w, W, s///ew). */
export function judgeScript(subject: CommandAnalysis, script: Argument): void {
  // Text that is substituted into a script is mostly data; at its beginning it could be a command.
  const text = script.value ?? script.shape.replaceAll('\0', 'x');
  if (script.value === undefined && /^\0|[;{}\n]\s*\0|\0\s*$/.test(script.shape)) {
    subject.addUnknown(script, 'the script that sed runs');
  }
  const commands = text.length > POLICY_LIMITS.maxScriptLength ? [undefined] : sideEffectsOf(text);
  for (const command of commands) {
    if (command === undefined) subject.does('runs a script that cannot be judged');
    else judgeSedCommand(subject, script, command);
  }
}

export function judgeScriptFile(subject: CommandAnalysis, { text }: Argument): void {
  subject.does('runs a script from a file, which is not read', text);
}

/** A command of sed that runs a program, or reads or writes a file. */
function judgeSedCommand(subject: CommandAnalysis, script: Argument, command: string): void {
  const file = command.slice(1).trim();
  if (command.startsWith('e')) subject.does('runs commands');
  else if (command.startsWith('r')) subject.read(literal(file));
  else if (command.startsWith('w'))
    subject.write({ ...script, value: file === '' ? undefined : file, shape: file, isGlob: false });
}

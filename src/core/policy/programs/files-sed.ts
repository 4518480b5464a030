import { POLICY_LIMITS } from '../model.js';
import type { CommandAnalysis } from '../subject/command-analysis.js';
import { hasOption, parseArguments, type ParsedArguments } from '../subject/options.js';
import { each, valued } from '../subject/program-spec.js';
import { type Argument, literal } from '../words/argument.js';

/** Line numbers, ranges and blocks, which only select lines. */
const ADDRESS = /^(?:\s|;|\d+|\$|[,~+!]|[{}])+/;

/** Commands whose argument reaches to the end of the line. */
const TAKES_LINE = '#aicrRbtT:lLqQvwWe';

/** Those of them whose argument also ends at a semicolon or a brace. */
const ENDS_AT_SEMICOLON = 'btTlLqQv:';

/** Commands without an argument. */
const PLAIN = '=dDgGhHnNpPxzF';

/** A command that was read. */
interface SedCommand {
  /** What it does beyond editing text. */
  readonly effects: readonly string[];
  /** The script after it. */
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

const OPTIONS = {
  ...each('-e --expression', { value: 'text' } as const),
  ...each('-f --file', { value: 'read' } as const),
  ...each('-n -r -E -s -u -z --quiet --silent --regexp-extended --posix --null-data --debug --sandbox', {}),
  ...valued('-l --line-length'),
  ...each('-i --in-place', {}),
  '-I': {},
};

/** `sed`: its scripts may write files and run commands. Source: GNU sed manual, "Commands" (e, w, W, s///ew). */
export function judgeSed(subject: CommandAnalysis): void {
  const parsed = parseArguments(subject.args, { options: OPTIONS });
  if (subject.args.some(({ shape }) => /^(?:-[nrEsuz]*i|--in-place=).*\//.test(shape)))
    subject.add('obfuscated', 'sed writes backup files to another directory');
  const { scripts, scriptFile, files } = readCall(parsed);
  if (!hasOption(parsed, '--sandbox')) for (const script of scripts) judgeScript(subject, script);
  if (scriptFile)
    subject.add('obfuscated', `sed runs a script from a file, which is not read: ${scriptFile.value?.text ?? ''}`);
  judgeFiles(subject, parsed, files);
  for (const argument of parsed.doubtful) if (argument.maySplit) subject.addUnknown(argument, 'an option of sed');
}

/** The files that sed reads, or edits in place. */
function judgeFiles(subject: CommandAnalysis, { options }: ParsedArguments, files: readonly Argument[]): void {
  const isInPlace = options.some(({ name }) => /^-(?:i|I|-in-place)/.test(name));
  for (const file of files) {
    if (isInPlace) subject.write(file);
    else subject.read(file);
  }
}

/** The scripts and files in the arguments of sed. */
interface SedCall {
  readonly scripts: readonly Argument[];
  /** The option that names a file with a script. */
  readonly scriptFile: ParsedArguments['options'][number] | undefined;
  readonly files: readonly Argument[];
}

/** The first operand is the script, unless options give one. */
function readCall({ options, operands }: ParsedArguments): SedCall {
  const given = options.filter(({ name }) => name === '-e' || name === '--expression');
  const scriptFile = options.find(({ name }) => name === '-f' || name === '--file');
  if (given.length === 0 && !scriptFile) return { scripts: operands.slice(0, 1), scriptFile, files: operands.slice(1) };
  return { scripts: given.flatMap(({ value }) => value ?? []), scriptFile, files: operands };
}

function judgeScript(subject: CommandAnalysis, script: Argument): void {
  // Text that is substituted into a script is mostly data; at its beginning it could be a command.
  const text = script.value ?? script.shape.replaceAll('\0', 'x');
  if (script.value === undefined && /^\0|[;{}\n]\s*\0|\0\s*$/.test(script.shape)) {
    subject.addUnknown(script, 'the script that sed runs');
  }
  const commands = text.length > POLICY_LIMITS.maxScriptLength ? [undefined] : sideEffectsOf(text);
  for (const command of commands) {
    if (command === undefined) subject.add('obfuscated', 'sed runs a script that cannot be judged');
    else judgeSedCommand(subject, script, command);
  }
}

/** A command of sed that runs a program, or reads or writes a file. */
function judgeSedCommand(subject: CommandAnalysis, script: Argument, command: string): void {
  const file = command.slice(1).trim();
  if (command.startsWith('e')) subject.add('obfuscated', 'sed runs commands');
  else if (command.startsWith('r')) subject.read(literal(file));
  else if (command.startsWith('w'))
    subject.write({ ...script, value: file === '' ? undefined : file, shape: file, isGlob: false });
}

import { type Argument, literal } from '../../words/argument.js';
import { POLICY_LIMITS } from '../../model/limits.js';
import { hasOption, type ParsedArguments, parseArguments } from '../../subject/options.js';
import { each, valued } from '../../subject/program-spec.js';
import type { CommandAnalysis } from '../../subject/command-analysis.js';
import { sideEffectsOf } from './sed-script.js';

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

import { type Argument, literal } from '../../words/argument.js';
import { POLICY_LIMITS } from '../../model/limits.js';
import { type ParsedArguments, parseArguments, hasOption, tailOf } from '../../subject/options.js';
import { each, valued } from '../../subject/program-spec.js';
import { judgeFetchedScript } from '../../subject/run-file.js';
import { isInputName } from '../../subject/standard-input.js';
import type { CommandAnalysis } from '../../subject/command-analysis.js';

const OPTIONS = {
  ...valued('-F -v --field-separator --assign'),
  ...each('-f --file -E --exec', { value: 'read' } as const),
  ...each('-e --source', { value: 'text' } as const),
  ...each('-l --load -i --include', { value: 'text' } as const),
};

/** Effects of an awk program beyond printing: it runs commands, reads from them, or writes files. Source: gawk(1). */
const BEYOND_PRINTING =
  /\bsystem\s*\(|\bgetline\b|(?<!\|)\|(?!\|)|\bprintf?\b[^;}\n]*>|@(?:load|include)|\bclose\s*\(|\/inet|@\w+\s*\(/;

/** `print … > "name"`, where the string is the whole file name. */
const OUTPUT = /(\bprintf?\b(?:[^;}\n">|]|"(?:\\.|[^"\\\n])*")*)>{1,2}\s*"([\w./@%+-]+)"(?=\s*(?:[;}\n]|$))/g;

/** `awk`: text processing, as long as its program only prints. */
export function judgeAwk(subject: CommandAnalysis): void {
  const args = subject.args.filter(({ shape }) => !DUMPS.test(shape));
  const parsed = parseArguments(args, { options: OPTIONS });
  const { programs, scripts, files } = readCall(parsed);
  for (const script of scripts) judgeScriptFile(subject, script);
  if (hasOption(parsed, '-l', '--load', '-i', '--include')) subject.add('obfuscated', 'awk loads other code');
  for (const program of programs) judgeAwkProgram(subject, program);
  judgeDumps(subject, parsed.operands[0]);
  for (const file of files) subject.read(file);
  for (const argument of parsed.doubtful) if (argument.maySplit) subject.addUnknown(argument, 'an option of awk');
}

/** The programs and files in the arguments of awk. */
interface AwkCall {
  readonly programs: readonly Argument[];
  /** Values of the options that name a file with a program. */
  readonly scripts: readonly (Argument | undefined)[];
  readonly files: readonly Argument[];
}

/** The first operand is the program, unless options give one. */
function readCall({ options, operands }: ParsedArguments): AwkCall {
  const sources = options.filter(({ name }) => name === '-e' || name === '--source');
  const scripts = options.filter(({ spec }) => spec?.value === 'read').map(({ value }) => value);
  if (sources.length === 0 && scripts.length === 0)
    return { programs: operands.slice(0, 1), scripts, files: operands.slice(1) };
  return { programs: sources.flatMap(({ value }) => value ?? []), scripts, files: operands };
}

/** A program in a file, or on standard input. */
function judgeScriptFile(subject: CommandAnalysis, script: Argument | undefined): void {
  subject.add('execute', `awk runs a script: ${script?.text ?? ''}`);
  if (script?.isProcess === true) subject.add('obfuscated', 'awk runs the output of another command');
  if (script) {
    subject.read(script);
    judgeFetchedScript(subject, script);
  }
  const { stdin } = subject.command;
  if (isInputName(script?.value) && stdin && stdin.kind !== 'file')
    subject.add('obfuscated', 'awk runs code from its input, which cannot be judged');
}

function judgeAwkProgram(subject: CommandAnalysis, program: Argument): void {
  if (program.value === undefined) subject.addUnknown(program, 'the program that awk runs');
  if (program.shape.length > POLICY_LIMITS.maxScriptLength) {
    subject.add('obfuscated', 'awk runs a program that is too long to be judged');
    return;
  }
  // Content of patterns and strings is not executed; a string after `>` is a file name.
  const code = program.shape
    .replaceAll(OUTPUT, (_whole, before: string, name: string) => {
      subject.write({ ...literal(name), isGlob: false });
      return before;
    })
    .replaceAll(/"(?:\\.|[^"\\])*"/g, '""')
    .replaceAll(/(^|[~(,!&|{;\s])\/(?:\\.|[^/\\\n])+\//g, '$1');
  if (BEYOND_PRINTING.test(code)) subject.add('obfuscated', 'awk runs commands or writes files');
}

/** Options with which gawk writes its program or variables to a file, whose name is attached. */
const DUMPS = /^(?:--(?:du|pre|pro)[\w-]*=|-[bcCghIkMnNOPrsStV]*[dop])(?=.)/;

function judgeDumps(subject: CommandAnalysis, firstOperand: Argument | undefined): void {
  for (const arg of subject.args) {
    if (arg === firstOperand || arg.shape === '--') return;
    const [before] = DUMPS.exec(arg.shape) ?? [];
    if (before !== undefined) subject.write(tailOf(arg, before.length));
  }
}

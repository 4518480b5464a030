import { type Argument, literal } from '../../words/argument.js';
import { POLICY_LIMITS } from '../../model/limits.js';
import { parseArguments, tailOf } from '../../subject/options.js';
import { each, valued } from '../../subject/program-spec.js';
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
  const { options, operands, doubtful } = parseArguments(args, { options: OPTIONS });
  const sources = options.filter(({ name }) => name === '-e' || name === '--source').map(({ value }) => value);
  const files = options.filter(({ spec }) => spec?.value === 'read');
  const hasProgram = sources.length > 0 || files.length > 0;
  for (const { value } of files) {
    subject.add('execute', `awk runs a script: ${value?.text ?? ''}`);
    const { stdin } = subject.command;
    if (isInputName(value?.value) && stdin && stdin.kind !== 'file')
      subject.add('obfuscated', 'awk runs code from its input, which cannot be judged');
  }
  if (options.some(({ name }) => ['-l', '--load', '-i', '--include'].includes(name))) {
    subject.add('obfuscated', 'awk loads other code');
  }
  for (const program of hasProgram ? sources : operands.slice(0, 1)) {
    if (!program) continue;
    if (program.value === undefined) subject.addUnknown(program, 'the program that awk runs');
    if (program.shape.length > POLICY_LIMITS.maxScriptLength) {
      subject.add('obfuscated', 'awk runs a program that is too long to be judged');
      continue;
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
  judgeDumps(subject, operands[0]);
  for (const file of hasProgram ? operands : operands.slice(1)) subject.read(file);
  for (const argument of doubtful) if (argument.maySplit) subject.addUnknown(argument, 'an option of awk');
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

import type { Stdin } from '../words/simple-command.js';
import type { CommandAnalysis } from './command-analysis.js';

/**
 * Words by which a program in one of these languages executes text as code. With an input, that text may come from
 * there.
 */
const EVALUATES = /\b(?:exec|execfile|eval|instance_eval|class_eval|compile|Function|loadstring)\b|(?<![.\w])load\b/;

/**
 * Judges a program that is given whole in the command line, such as the argument of `python3 -c`. Its effects are as
 * unknown as those of a script file, so it is `execute` as well: a reviewer of the command sees its text. It is
 * `obfuscated` when parts of it are substituted at run time, or when it may execute text from its input.
 *
 * @param source undefined when its text is known only at run time
 */
export function judgeSource(subject: CommandAnalysis, source: string | undefined, label: string): void {
  if (source === undefined) subject.add('obfuscated', `${label} runs code that is known only at run time`);
  else if (subject.command.stdin !== undefined && EVALUATES.test(source))
    subject.add('obfuscated', `${label} may run code that it reads from its input`);
  else subject.add('execute', `${label} runs code from its arguments`);
}

/** Whether an input is the whole text of a program, such as a quoted here-document. */
export const isWholeText = (stdin: Stdin | undefined): stdin is Extract<Stdin, { kind: 'text' }> =>
  stdin?.kind === 'text' && stdin.isCertain;

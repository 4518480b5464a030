import { outputOf } from './read-command.js';
import type { Argument } from '../words/argument.js';
import type { CommandAnalysis } from './command-analysis.js';

/** Operators that open a file for writing. */
const WRITING = new Set(['>', '>>', '>|', '&>', '&>>', '<>', '>&']);

/** A file descriptor number, or the closing mark. */
const DESCRIPTOR = /^(?:\d+-?|-)$/;

/** Judges the files that a command's redirections open. */
export function judgeRedirects(subject: CommandAnalysis): void {
  const { command } = subject;
  for (const { operator, target } of command.redirects) {
    if (!target || isDuplication(operator, target)) continue;
    if (WRITING.has(operator)) {
      subject.write(target, false);
      subject.noteWritten(target, outputOf({ ...command, redirects: [] }, subject.inquiry));
    } else judgeInput(subject, target);
  }
}

/** `2>&1`, `<&3`: copies a file descriptor, whose target was judged where it was opened. */
const isDuplication = (operator: string, { value }: Argument): boolean =>
  operator === '<&' || (operator === '>&' && value !== undefined && DESCRIPTOR.test(value));

/** A file that is opened for reading, or a network connection in the form of a file. */
function judgeInput(subject: CommandAnalysis, target: Argument): void {
  const { value } = target;
  if (value?.startsWith('/dev/tcp/') === true || value?.startsWith('/dev/udp/') === true)
    subject.addSideEffect('network', `opens a connection: ${value}`);
  else subject.read(target);
}

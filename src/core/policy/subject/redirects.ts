import { outputOf } from './read-command.js';
import type { CommandAnalysis } from './command-analysis.js';

/** Operators that open a file for writing. */
const WRITING = new Set(['>', '>>', '>|', '&>', '&>>', '<>', '>&']);

/** A file descriptor number, or the closing mark. */
const DESCRIPTOR = /^(?:\d+-?|-)$/;

/** Judges the files that a command's redirections open. */
export function judgeRedirects(subject: CommandAnalysis): void {
  const { command } = subject;
  for (const { operator, target } of command.redirects) {
    if (!target) continue;
    const isDuplicate = operator === '>&' || operator === '<&';
    if (isDuplicate && target.value !== undefined && DESCRIPTOR.test(target.value)) continue;
    // The target of a file descriptor was judged where it was opened.
    if (operator === '<&') continue;
    if (WRITING.has(operator)) {
      subject.write(target, false);
      subject.noteWritten(target, outputOf({ ...command, redirects: [] }, subject.inquiry));
    } else if (target.value?.startsWith('/dev/tcp/') === true || target.value?.startsWith('/dev/udp/') === true) {
      subject.addSideEffect('network', `opens a connection: ${target.value}`);
    } else subject.read(target);
  }
}

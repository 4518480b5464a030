import { tailOf } from './options.js';
import type { CommandAnalysis } from './command-analysis.js';

/**
 * Judges arguments, or the part after their first equals sign, that resemble a command: `CC='rm x'`, `-exec='rm x'`.
 */
export function judgeGivenTexts(subject: CommandAnalysis, label = subject.program ?? 'it'): void {
  for (const arg of subject.args) {
    const equals = arg.shape.indexOf('=');
    for (const text of equals === -1 ? [arg] : [arg, tailOf(arg, equals + 1)]) {
      if (subject.inquiry.programs.isRunnable(/^(\S+)\s/.exec(text.shape)?.[1] ?? '')) subject.runText(text, label);
    }
  }
}

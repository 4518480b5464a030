import type { CommandAnalysis } from '../../subject/command-analysis.js';

/** Commands that shut the machine down, for all of its users. */
export function judgeShutdown(subject: CommandAnalysis): void {
  const [first] = subject.args;
  if (subject.program === 'shutdown' && first?.value === '-c') return;
  if ((subject.program === 'init' || subject.program === 'telinit') && !/^[06]$/.test(first?.value ?? '')) return;
  subject.addFatal(`${subject.program ?? 'it'} shuts the machine down`);
}

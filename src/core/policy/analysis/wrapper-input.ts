import type { Scope, Stdin } from '../words/simple-command.js';
import { type CommandAnalysis } from '../subject/command-analysis.js';

/** Whether the client itself sends the input, so that it contains no data of this machine. */
const isOfClient = (stdin: Stdin): boolean =>
  stdin.kind === 'text' || (stdin.kind === 'unknown' && stdin.isOfClient === true);

/** Scope of a command that runs in an unknown directory. */
export const elsewhere = ({ scope }: CommandAnalysis): Scope => ({
  ...scope,
  directories: [undefined],
  stdin: undefined,
});

/** Input that leaves this machine. */
export function judgeSentInput(subject: CommandAnalysis, label: string): void {
  const { stdin } = subject.command;
  if (stdin && !isOfClient(stdin)) subject.add('exfiltration', `${label} sends its input to another machine`);
}

/** Input that a shell of this machine runs. */
export function judgeShellInput(subject: CommandAnalysis, label: string, stdin: Stdin): void {
  if (stdin.kind === 'text') subject.inquiry.judgeText(stdin.text, { ...subject.scope, stdin: undefined });
  else subject.addSideEffect('obfuscated', `a shell of ${label} runs the input, which cannot be judged`);
}

/** Input that another machine runs as commands. */
export function judgeRemoteInput(subject: CommandAnalysis, label: string, stdin: Stdin): void {
  if (stdin.kind === 'text') subject.inquiry.judgeText(stdin.text, elsewhere(subject));
  if (stdin.kind === 'unknown' && stdin.isOfClient === true)
    subject.addSideEffect('obfuscated', `${label} runs input from ${stdin.what}`);
}

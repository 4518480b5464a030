import { type Argument, literal } from '../words/argument.js';
import { SHELLS } from '../words/program-name.js';
import type { CommandAnalysis } from './command-analysis.js';
import { interpreterOf, isFetched } from '../words/written-files.js';

/** Judges a script that a shell runs, if the same text has written it: by its content, as far as that is known. */
export function judgeWrittenScript(subject: CommandAnalysis, label: string, script: Argument): void {
  const { inquiry, scope } = subject;
  const written = inquiry.written.find(script, scope.directories);
  inquiry.written.noteRun(script, scope.directories);
  if (written?.kind === 'text') inquiry.judgeText(written.text, { ...scope, stdin: undefined });
  else if (written?.kind === 'unknown')
    subject.addSideEffect('obfuscated', `${label} runs what ${written.by} has written: ${script.text}`);
}

/** Judges a program that is called by a path that the same text has written: it may be a copy of another program. */
export function judgeWrittenProgram(subject: CommandAnalysis, program: Argument): void {
  const { inquiry, scope, args } = subject;
  const written = inquiry.written.find(program, scope.directories);
  if (!written) return;
  const interpreter = written.kind === 'text' ? interpreterOf(written.text) : undefined;
  if (written.kind === 'copy') subject.runWords([literal(written.of), ...args]);
  else if (interpreter === undefined || SHELLS.has(interpreter)) judgeWrittenScript(subject, 'the shell', program);
}

/** Judges a script in another language, which cannot be analysed here: a script from another machine is unreviewed. */
export function judgeFetchedScript(subject: CommandAnalysis, script: Argument): void {
  const written = subject.inquiry.written.find(script, subject.scope.directories);
  if (written?.kind === 'unknown' && isFetched(written))
    subject.addSideEffect(
      'obfuscated',
      `${subject.program ?? 'it'} runs what ${written.by} has fetched: ${script.text}`,
    );
}

import { type Argument, literal } from '../words/argument.js';
import type { CommandAnalysis } from './command-analysis.js';
import { interpreterOf } from '../words/written-files.js';
import { judgeSource } from './inline-source.js';
import { isInputName } from './standard-input.js';

/** Judges a script that a shell runs, if the same text has written it: by its content, as far as that is known. */
export function judgeWrittenScript(subject: CommandAnalysis, label: string, script: Argument): void {
  const { inquiry, scope } = subject;
  const written = inquiry.written.find(script, scope.directories);
  inquiry.written.noteRun(script, scope.directories);
  if (written?.kind === 'text') inquiry.judgeText(written.text, { ...scope, stdin: undefined });
  else if (written?.kind === 'unknown')
    subject.addSideEffect('obfuscated', `${label} runs a file that ${written.by} has written: ${script.text}`);
}

/** Judges a program that is called by a path that the same text has written: it may be a copy of another program. */
export function judgeWrittenProgram(subject: CommandAnalysis, program: Argument): void {
  const { inquiry, scope, args } = subject;
  const written = inquiry.written.find(program, scope.directories);
  if (!written) return;
  const interpreter = written.kind === 'text' ? interpreterOf(written.text) : undefined;
  if (written.kind === 'copy') subject.runWords([literal(written.of), ...args]);
  else if (interpreter === undefined || inquiry.programs.has(inquiry.programs.plainName(interpreter), 'shell'))
    judgeWrittenScript(subject, 'the shell', program);
}

/** Sources of unread code: other machines, archives, and encoded or encrypted data. */
const DECODERS =
  /^(?:another machine|another command|several commands|lynx|w3m|links|elinks|telnet|ssh|rclone|kubectl|docker|podman|dig|xxd|gpg2?|openssl|base(?:64|32|nc)|uudecode|tar|unzip|[gbx]?zcat|gunzip|zstd|xz|age|git|nc|ncat|socat|aws|gsutil|gcloud|az|http|https|xh|aria2c|scp|gh|glab)$/;

/** Judges a script in another language, which cannot be analysed here: a script from another machine is unreviewed. */
export function judgeFetchedScript(subject: CommandAnalysis, script: Argument): void {
  const { inquiry, scope } = subject;
  const written = inquiry.written.find(script, scope.directories);
  const isForeign = (by: string) => inquiry.programs.has(by, 'fetches') || DECODERS.test(by);
  if (written?.kind === 'unknown' && isForeign(written.by))
    subject.addSideEffect(
      'obfuscated',
      `${subject.program ?? 'it'} runs a file that ${written.by} has written: ${script.text}`,
    );
  else if (written?.kind === 'text') judgeSource(subject, written.text, subject.program ?? 'it');
}

/** `deno run` and `bun run`: the script may be their input, or be fetched from another machine. */
export function judgeScriptAddress(subject: CommandAnalysis): void {
  const label = subject.program ?? 'it';
  for (const { shape, value } of subject.args) {
    if (isInputName(value) && subject.command.stdin)
      subject.add('obfuscated', `${label} runs code from its input, which cannot be judged`);
    if (/^(?:https?|jsr|npm):/.test(shape)) subject.add('network', `${label} fetches a program and runs it: ${shape}`);
    if (/^https?:/.test(shape)) subject.add('obfuscated', `${label} runs code from another machine: ${shape}`);
  }
}

import { normalizePath } from '../../paths/paths.js';
import { SETS_ZSH_NAMES } from '../../subject/assignments.js';
import type { CommandAnalysis } from '../../subject/command-analysis.js';
import { tailOf } from '../../subject/options.js';
import { judgeWrittenScript } from '../../subject/run-file.js';
import { DESCRIPTOR, isInputName } from '../../subject/standard-input.js';
import type { Argument } from '../../words/argument.js';

/** Options that take a separate value. */
const VALUED = new Set(['-o', '+o', '-O', '+O', '--rcfile', '--init-file', '--emulate']);

/** zsh's long form of `-s`. */
const INPUT_OPTION = /^--sh_?in_?stdin$/i;

/** The program that the arguments of a shell select. */
interface ShellCall {
  readonly command: Argument | undefined;
  readonly script: Argument | undefined;
  readonly startFile: Argument | undefined;
  /** Whether its input is the script even when operands are given. */
  readonly readsInput: boolean;
}

function readCall(args: readonly Argument[]): ShellCall {
  let takesCommand = false;
  let readsInput = false;
  let startFile: Argument | undefined;
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index];
    if (!arg) break;
    const { shape } = arg;
    const isOption = /^[-+]./.test(shape);
    if (!isOption || shape === '--') {
      const operand = shape === '--' ? args[index + 1] : arg;
      const role = takesCommand ? 'command' : 'script';
      return { command: undefined, script: undefined, startFile, readsInput, [role]: operand };
    }
    if (shape.startsWith('--rcfile') || shape.startsWith('--init-file')) {
      startFile = shape.includes('=') ? tailOf(arg, shape.indexOf('=') + 1) : args[index + 1];
    }
    if (/^-[A-Za-z]*c/.test(shape)) takesCommand = true;
    if (/^-[A-Za-z]*s/.test(shape) || INPUT_OPTION.test(shape)) readsInput = true;
    if (VALUED.has(shape) || /^[-+][A-Za-z]*[oO]$/.test(shape)) {
      index += 1;
      if (INPUT_OPTION.test(`--${args[index]?.shape ?? ''}`)) readsInput = true;
    }
  }
  return { command: undefined, script: undefined, startFile, readsInput };
}

/** Judges a shell with another language than the parser's. */
export function judgeForeignShell(subject: CommandAnalysis): void {
  subject.addSideEffect('obfuscated', `${subject.program ?? 'it'} is a shell whose language cannot be judged`);
  judgeShell(subject);
}

/** Judges a shell: the text, script or input that it runs. */
export function judgeShell(subject: CommandAnalysis): void {
  const label = subject.program ?? 'it';
  const { command, script, startFile, readsInput } = readCall(subject.args);
  if (startFile) subject.addSideEffect('obfuscated', `${label} runs a start-up file first: ${startFile.text}`);
  if (label === 'zsh' && subject.inquiry.facts.shell !== 'zsh' && SETS_ZSH_NAMES.test(command?.shape ?? ''))
    subject.addSideEffect('obfuscated', 'the command for zsh changes where zsh finds programs');
  if (command) {
    subject.runText(command, `the command that ${label} runs`);
    return;
  }
  if (readsInput || !script || isInputName(script.value)) {
    judgeInput(subject, label);
    return;
  }
  if (DESCRIPTOR.test(script.shape.startsWith('/') ? normalizePath(script.shape, '/') : script.shape))
    subject.addSideEffect('obfuscated', `${label} runs code from a file descriptor: ${script.text}`);
  else if (script.isProcess) subject.addSideEffect('obfuscated', `${label} runs the output of another command`);
  else if (script.value === undefined) subject.addUnknown(script, `the script that ${label} runs`);
  else {
    subject.add('execute', `${label} runs a script: ${script.value}`);
    subject.read(script);
    judgeWrittenScript(subject, label, script);
  }
}

/** Judges the standard input that a shell reads as its program. */
function judgeInput(subject: CommandAnalysis, label: string): void {
  const { stdin } = subject.command;
  switch (stdin?.kind) {
    case 'text':
      if (!stdin.isCertain)
        subject.addSideEffect('obfuscated', `part of the script that ${label} runs is known only at run time`);
      subject.inquiry.judgeText(stdin.text, { ...subject.scope, stdin: undefined });
      return;
    case 'file':
      subject.add('execute', `${label} runs a script: ${stdin.file.text}`);
      judgeWrittenScript(subject, label, stdin.file);
      return;
    case 'unknown':
      subject.addSideEffect('obfuscated', `${label} runs input from ${stdin.what}`);
      return;
    case undefined:
      subject.add('execute', `${label} starts a shell`);
  }
}

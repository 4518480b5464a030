import type { Argument } from './argument.js';
import { tailOf } from './options.js';
import type { Subject } from './subject.js';

/** Shells whose text can be read here. */
export const SHELLS = new Set(['sh', 'bash', 'dash', 'ash', 'ksh', 'mksh', 'zsh', 'rbash', 'yash']);

/** Shells of other languages. */
export const FOREIGN_SHELLS = new Set(['fish', 'csh', 'tcsh', 'nu', 'elvish', 'xonsh', 'pwsh', 'powershell']);

/** Options with a value of their own. */
const VALUED = new Set(['-o', '+o', '-O', '+O', '--rcfile', '--init-file', '--emulate']);

/** Files that are the shell's standard input. */
const STDIN_NAMES = new Set(['-', '/dev/stdin', '/dev/fd/0', '/proc/self/fd/0']);

/** What the arguments of a shell have it run. */
interface ShellCall {
  readonly command: Argument | undefined;
  readonly script: Argument | undefined;
  readonly startFile: Argument | undefined;
}

function readCall(args: readonly Argument[]): ShellCall {
  let takesCommand = false;
  let startFile: Argument | undefined;
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index];
    if (!arg) break;
    const { shape } = arg;
    const isOption = /^[-+]./.test(shape);
    if (!isOption || shape === '--') {
      const operand = shape === '--' ? args[index + 1] : arg;
      return { command: takesCommand ? operand : undefined, script: takesCommand ? undefined : operand, startFile };
    }
    if (shape.startsWith('--rcfile') || shape.startsWith('--init-file')) {
      startFile = shape.includes('=') ? tailOf(arg, shape.indexOf('=') + 1) : args[index + 1];
    }
    if (/^-[A-Za-z]*c/.test(shape)) takesCommand = true;
    if (VALUED.has(shape) || /^[-+][A-Za-z]*[oO]$/.test(shape)) index += 1;
  }
  return { command: undefined, script: undefined, startFile };
}

/** Judges a shell: the text, the script or the input that it runs. */
export function judgeShell(subject: Subject, label: string): void {
  const { command, script, startFile } = readCall(subject.args);
  const isForeign = FOREIGN_SHELLS.has(label);
  if (isForeign) subject.findBeside('obfuscated', `${label} is a shell whose language cannot be judged`);
  if (startFile) subject.findBeside('obfuscated', `${label} runs a start-up file first: ${startFile.text}`);
  if (command) {
    subject.runText(command, `what ${label} runs`);
    return;
  }
  if (!script || (script.value !== undefined && STDIN_NAMES.has(script.value))) {
    judgeInput(subject, label);
    return;
  }
  if (script.isProcess) subject.findBeside('obfuscated', `${label} runs what another command prints`);
  else if (script.value === undefined) subject.findUnknown(script, `the script that ${label} runs`);
  else {
    subject.find('execute', `${label} runs a script: ${script.value}`);
    subject.read(script);
  }
}

/** What a shell reads as its program. */
function judgeInput(subject: Subject, label: string): void {
  const { stdin } = subject.command;
  switch (stdin?.kind) {
    case 'text':
      if (!stdin.isCertain) subject.findBeside('obfuscated', `part of what ${label} runs is filled in when it runs`);
      subject.inquiry.judgeText(stdin.text, { ...subject.scope, stdin: undefined });
      return;
    case 'file':
      subject.find('execute', `${label} runs a script: ${stdin.file.text}`);
      return;
    case 'unknown':
      subject.findBeside('obfuscated', `${label} runs what it is given by ${stdin.what}`);
      return;
    case undefined:
      subject.find('execute', `${label} starts a shell`);
  }
}

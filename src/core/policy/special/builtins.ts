import { type Argument, UNKNOWN } from '../argument.js';
import { judgeAssignments, noteVariable } from '../assignments.js';
import { HIDDEN_COMMAND } from '../expansions.js';
import type { Subject } from '../subject.js';

const ASSIGNMENT = /^([A-Za-z_]\w*)(\[[^\]]*\])?\+?=/;

/** `eval`: its words, with blanks between, are text for this very shell. */
export function judgeEval(subject: Subject): void {
  const words = subject.args.filter(({ shape }, index) => index > 0 || shape !== '--');
  const unknown = words.find(({ value, isSample, isGlob }) => value === undefined || isSample || isGlob);
  if (unknown) {
    subject.findUnknown(unknown, 'what eval runs');
    subject.inquiry.noteNamesChange();
  }
  const text = words.map(({ value, shape }) => value ?? shape.replaceAll(UNKNOWN, '$unknown')).join(' ');
  const { stdin } = subject.command;
  if (text.trim() !== '') subject.inquiry.judgeText(text, { ...subject.scope, stdin });
}

/** `source`: whatever is in the file happens in the session's own shell. */
export function judgeSource(subject: Subject): void {
  const [file] = subject.args.filter(({ shape }) => shape !== '--');
  if (!file) return;
  subject.find('obfuscated', `runs a file in the session's own shell, which may change it: ${file.text}`);
  if (file.isProcess) subject.findBeside('obfuscated', 'runs what another command prints');
  subject.read(file);
  subject.inquiry.noteNamesChange();
}

/** `alias`: what it stands for is judged now, and again where it is used. */
export function judgeAlias(subject: Subject): void {
  for (const arg of subject.args) {
    if (arg.shape.startsWith('-') && arg.shape !== '-p' && arg.shape !== '-L') {
      subject.find('obfuscated', `alias ${arg.text} changes how all that follows is read`);
      subject.inquiry.noteNamesChange();
    }
    const equals = arg.shape.indexOf('=');
    if (equals <= 0) continue;
    subject.inquiry.noteNamesChange();
    if (arg.value === undefined || arg.isGlob) subject.findUnknown(arg, 'what an alias stands for');
    else {
      const text = arg.value.slice(equals + 1);
      subject.inquiry.noteAlias(arg.value.slice(0, equals), text);
      subject.inquiry.judgeText(text, subject.scope);
    }
  }
}

/** `trap`: its first word is run at a signal, an error or the end. */
export function judgeTrap(subject: Subject): void {
  const words = subject.args.filter(({ shape }) => !/^-[lpP]*$/.test(shape) && shape !== '--');
  const [action, ...signals] = words;
  if (!action || signals.length === 0 || action.value === '') return;
  subject.runText(action, 'what a trap runs');
  subject.inquiry.noteNamesChange();
}

/** `export`, `declare` and their like: assignments that stand behind the command. */
export function judgeDeclaration(subject: Subject): void {
  judgeNames(subject);
  for (const { shape, value, text } of subject.args) {
    const [whole, name] = ASSIGNMENT.exec(shape) ?? [];
    if (name === undefined || whole === undefined) continue;
    judgeAssignments(subject, [{ name, value: value?.slice(whole.length), text, isPrefix: false }]);
  }
  if (subject.args.some(({ shape }) => /^-[A-Za-z]*[fF]/.test(shape))) subject.inquiry.noteNamesChange();
  const isReference = /^(?:declare|typeset|local)$/.test(subject.program ?? '');
  if (isReference && subject.args.some(({ shape }) => /^-[A-Za-z]*n/.test(shape))) judgeReferences(subject);
}

/** `declare -n`: another name for a variable, by which it is set later. */
function judgeReferences(subject: Subject): void {
  for (const arg of subject.args) {
    const equals = arg.shape.indexOf('=');
    if (equals <= 0) continue;
    if (arg.value === undefined) subject.findUnknown(arg, 'the variable that another name stands for');
    else noteVariable(arg.value.slice(equals + 1), subject.inquiry);
  }
}

/** Names of variables are expressions to these: a subscript may run a command. */
export function judgeNames(subject: Subject): void {
  const takesAny = subject.program === 'let' || subject.program === 'unset' || subject.program === 'read';
  subject.args.forEach((arg, index) => {
    if (!isName(subject, arg, index, takesAny)) return;
    if (arg.value === undefined && !ASSIGNMENT.test(arg.shape)) {
      if (subject.program !== 'test' && subject.program !== '[')
        subject.findUnknown(arg, `a name for ${subject.program ?? 'it'}`);
    } else if (HIDDEN_COMMAND.test(arg.shape)) {
      subject.findBeside('obfuscated', `a subscript may run a command: ${arg.text}`);
    }
  });
  if (subject.program === 'unset') judgeUnset(subject);
  if (SETTERS.has(subject.program ?? '')) noteNames(subject, takesAny);
}

/** They set the variables that they are given the names of. */
const SETTERS = new Set(['read', 'printf', 'getopts', 'mapfile', 'readarray', 'vared']);

function noteNames(subject: Subject, takesAny: boolean): void {
  subject.args.forEach((arg, index) => {
    if (!isName(subject, arg, index, takesAny)) return;
    noteVariable(
      arg.shape.replace(subject.program === 'printf' ? /^-v/ : /^-[au]/, '').replace(/\[.*/s, ''),
      subject.inquiry,
    );
  });
}

/** Of `printf` and `test`, only the word behind `-v` is a name. */
function isName({ program, args }: Subject, { shape }: Argument, index: number, takesAny: boolean): boolean {
  if (program === 'printf' || program === 'test' || program === '[') {
    const before = args[index - 1]?.shape ?? '';
    return /^-[vR]$/.test(before) || (program === 'printf' && shape.startsWith('-v'));
  }
  return takesAny || !shape.startsWith('-');
}

function judgeUnset(subject: Subject): void {
  subject.inquiry.noteNamesChange();
  for (const { value } of subject.args) {
    if (value === undefined || /^(?:PATH|HISTFILE|HISTSIZE|HOME)$/.test(value)) {
      subject.find('obfuscated', `unset changes how later commands run, or are recorded: ${value ?? '?'}`);
    }
  }
}

/** Options by which words, or names of directories, become something else than they say. */
const MISLEADING = /^(?:keyword|autocd|cdablevars|cdspell)$/;

/** `set` and `shopt`: most options are the session's own affair. */
export function judgeHistory(subject: Subject): void {
  const words = subject.args.map(({ shape }) => shape);
  if (words.includes('history') || words.includes('+H')) subject.find('obfuscated', 'changes what is recorded');
  const end = words.indexOf('--');
  const options = end === -1 ? words : words.slice(0, end);
  if (options.some((word) => MISLEADING.test(word.toLowerCase().replaceAll('_', ''))))
    subject.find('obfuscated', 'changes what words stand for');
  if (subject.program === 'set' && options.some((word) => /^-[A-Za-z]*k/.test(word)))
    subject.find('obfuscated', 'set -k changes what words stand for');
  if (words.some((word) => /^(?:expand_aliases|aliases|posix|compat\d+|xtrace)$/.test(word)))
    subject.inquiry.noteNamesChange();
}

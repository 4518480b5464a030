import type { Directory } from '../../model/facts.js';
import type { Argument } from '../../words/argument.js';
import { type Copies, copiesOf, judgeInto } from '../../subject/copying.js';
import { hasOption, valueOfOption } from '../../subject/options.js';
import { isInputName } from '../../subject/standard-input.js';
import { SET_ID } from './chmod.js';
import { resolvePath } from '../../paths/paths.js';
import { type AnalysisFacts, isCritical, isRawDevice, kindOf } from '../../paths/path-kinds.js';
import { isStandardProgram } from '../../words/program-name.js';
import { each, type ProgramCall, valued } from '../../subject/program-spec.js';
import type { CommandAnalysis } from '../../subject/command-analysis.js';

/** Options of `cp`, `mv`, `ln` and `install`. */
export const COPY_OPTIONS = {
  ...each('-t --target-directory', { value: 'into' } as const),
  ...valued('-S -m -o -g --suffix --mode --owner --group'),
  '--strip-program': { value: 'program' } as const,
};

/** `cp`, `mv`, `ln` and `install`: files are read, and created at the last operand, or in the target directory. */
export function judgeCopy(subject: CommandAnalysis, call: ProgramCall): void {
  const { program } = subject;
  if (program === 'install') judgeMode(subject, call);
  if (program === 'install' && hasOption(call, '-d', '--directory')) {
    for (const directory of call.operands) subject.write(directory);
    return;
  }
  const copies = copiesOf(call);
  const isRecursive = program === 'cp' && hasOption(call, '-r', '-R', '-a', '--recursive', '--archive');
  if (copies.target)
    judgeInto(subject, copies.target, copies.sources, isRecursive || mayBeTree(program, copies.target));
  judgeSources(subject, copies, isRecursive);
}

/** What is moved or linked may be a directory; a target with a slash at its end is one that is there. */
const mayBeTree = (program: string | undefined, { shape }: Argument): boolean =>
  (program === 'mv' || program === 'ln') && !shape.endsWith('/');

/** `install -m`: the mode may let other users run a program as its owner. */
function judgeMode(subject: CommandAnalysis, call: ProgramCall): void {
  const mode = valueOfOption(call, '-m', '--mode');
  if (mode && SET_ID.test(mode.shape)) subject.add('privilege', 'install sets the set-user-ID or set-group-ID bit');
}

/** Judges the files that are copied, moved or linked. */
function judgeSources(subject: CommandAnalysis, { sources, target }: Copies, isRecursive: boolean): void {
  for (const source of sources) {
    if (target) noteCopied(subject, source, target);
    if (subject.program === 'ln') judgeLinked(subject, source);
    else if (isRecursive) subject.readTree(source);
    else subject.read(source);
    if (subject.program === 'mv') judgeMoved(subject, source, target);
  }
}

/** Records the content of a copy, which may be that of the input. */
function noteCopied(subject: CommandAnalysis, source: Argument, target: Argument): void {
  const stdin = isInputName(source.value) ? subject.command.stdin : undefined;
  if (stdin && stdin.kind !== 'file')
    subject.noteWritten(target, stdin.kind === 'text' && stdin.isCertain ? stdin.text : undefined);
  else subject.inquiry.written.noteCopy(stdin?.file ?? source, target, subject.scope.directories);
}

/** A later write to a link changes the target of the link. */
function judgeLinked(subject: CommandAnalysis, source: Argument): void {
  const paths = source.value === undefined ? [] : resolvePath(source.value, subject.scope.directories);
  for (const path of paths) {
    if (path !== undefined && mustNotChange(path, subject.inquiry.facts))
      subject.add('persistence', `ln links to a path that must not be changed: ${path}`);
  }
}

function mustNotChange(path: string, facts: AnalysisFacts): boolean {
  const kind = kindOf(path, facts);
  if (kind === 'startup' || kind === 'protected' || kind === 'device') return true;
  // A link to a standard program only gives it another name.
  if (kind === 'system' && !isStandardProgram(path)) return true;
  return isIndispensable(path, facts);
}

/** Whether the machine does not work without it. */
const isIndispensable = (path: string, facts: AnalysisFacts): boolean => isCritical(path, facts) || isRawDevice(path);

/** A moved file no longer exists at its source. */
function judgeMoved(subject: CommandAnalysis, source: Argument, target: Argument | undefined): void {
  judgeReplacedDevice(subject, target?.value ?? '');
  if (source.value === undefined) {
    subject.addUnknown(source, 'the file that mv moves');
    return;
  }
  for (const path of resolvePath(source.value, subject.scope.directories)) judgeMovedPath(subject, source, path);
}

/** Judges one path that a moved file may have. */
function judgeMovedPath(subject: CommandAnalysis, source: Argument, path: Directory): void {
  const { facts } = subject.inquiry;
  const kind = kindOf(path, facts);
  if (path !== undefined && isIndispensable(path, facts)) subject.remove(source, 'mv moves', true);
  else if (kind !== 'workspace' && kind !== 'scratch') subject.add('destructive', `mv moves ${path ?? source.text}`);
  if (path === facts.workspace) subject.add('destructive', `mv moves the workspace: ${path}`);
}

function judgeReplacedDevice(subject: CommandAnalysis, target: string): void {
  if (target.startsWith('/dev/') && !target.startsWith('/dev/shm'))
    subject.add('destructive', `mv replaces a device by a file: ${target}`);
}

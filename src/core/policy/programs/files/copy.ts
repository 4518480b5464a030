import type { Directory } from '../../model/facts.js';
import type { Argument } from '../../words/argument.js';
import { hasOption, type ParsedArguments, parseArguments, valueOfOption } from '../../subject/options.js';
import { SET_ID } from './chmod.js';
import { resolvePath } from '../../paths/paths.js';
import { type AnalysisFacts, isCritical, isRawDevice, kindOf, type PathKind } from '../../paths/path-kinds.js';
import { isStandardProgram } from '../../words/program-name.js';
import { each, valued } from '../../subject/program-spec.js';
import type { CommandAnalysis } from '../../subject/command-analysis.js';

const OPTIONS = {
  ...each('-t --target-directory', { value: 'write' } as const),
  ...valued('-S -m -o -g --suffix --mode --owner --group --backup'),
  '-T': {},
  '--strip-program': { value: 'code' } as const,
};

/** `cp`, `mv`, `ln` and `install`: files are read, and created at the last operand, or in the target directory. */
export function judgeCopy(subject: CommandAnalysis): void {
  const parsed = parseArguments(subject.args, { options: OPTIONS });
  const isInstall = subject.program === 'install';
  if (isInstall) judgeMode(subject, parsed);
  if (hasOption(parsed, '--strip-program')) subject.add('obfuscated', 'install runs a program');
  if (isInstall && hasOption(parsed, '-d')) {
    for (const directory of parsed.operands) subject.write(directory);
    judgeSources(subject, parsed, parsed.operands);
    return;
  }
  const { operands } = parsed;
  const target = targetDirectory(parsed);
  const sources = target !== undefined || operands.length < 2 ? operands : operands.slice(0, -1);
  if (target) subject.write(target);
  else if (operands.length > 1) writeTarget(subject, operands.at(-1), sources);
  judgeSources(subject, parsed, sources);
}

const targetDirectory = (parsed: ParsedArguments): Argument | undefined =>
  valueOfOption(parsed, '-t', '--target-directory');

/** `install -m`: the mode may let other users run a program as its owner. */
function judgeMode(subject: CommandAnalysis, parsed: ParsedArguments): void {
  const mode = valueOfOption(parsed, '-m', '--mode');
  if (mode && SET_ID.test(mode.shape)) subject.add('privilege', 'install sets the set-user-ID or set-group-ID bit');
}

/** Judges the files that are copied, moved or linked. */
function judgeSources(subject: CommandAnalysis, parsed: ParsedArguments, sources: readonly Argument[]): void {
  const last = parsed.operands.at(-1);
  const place = targetDirectory(parsed) ?? last;
  const isRecursive = subject.program === 'cp' && hasOption(parsed, '-r', '-R', '-a', '--recursive', '--archive');
  for (const source of sources) {
    if (place && place !== source) subject.inquiry.written.noteCopy(source, place, subject.scope.directories);
    if (subject.program === 'ln') judgeLinked(subject, source);
    else if (isRecursive) subject.readTree(source);
    else subject.read(source);
    if (subject.program === 'mv') judgeMoved(subject, source, last);
  }
}

/** Files in a target directory have the names of the sources: they may be start-up files. */
function writeTarget(subject: CommandAnalysis, target: Argument | undefined, sources: readonly Argument[]): void {
  if (!target) return;
  subject.write(target);
  if (target.value === undefined) return;
  for (const { value } of sources) {
    const name = value?.replace(/\/+$/, '').split('/').pop();
    if (name === undefined || name === '') continue;
    for (const path of resolvePath(`${target.value}/${name}`, subject.scope.directories)) {
      if (isTrusted(kindOf(path, subject.inquiry.facts))) subject.write({ ...target, value: path, shape: path ?? '' });
    }
  }
}

/** Whether files of this kind are run or trusted later. */
const isTrusted = (kind: PathKind): boolean => kind === 'startup' || kind === 'protected';

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
  if (isTrusted(kind) || kind === 'device') return true;
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

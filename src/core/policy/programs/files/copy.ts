import type { Argument } from '../../words/argument.js';
import { parseArguments } from '../../subject/options.js';
import { SET_ID } from './chmod.js';
import { resolvePath } from '../../paths/paths.js';
import { isCritical, isRawDevice, kindOf } from '../../paths/path-kinds.js';
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
  const { options, operands } = parseArguments(subject.args, { options: OPTIONS });
  const target = options.find(({ name }) => name === '-t' || name === '--target-directory')?.value;
  const isDirectoryMade = subject.program === 'install' && options.some(({ name }) => name === '-d');
  const mode = options.find(({ name }) => name === '-m' || name === '--mode')?.value;
  if (subject.program === 'install' && mode && SET_ID.test(mode.shape))
    subject.add('privilege', 'install sets the set-user-ID or set-group-ID bit');
  if (options.some(({ name }) => name === '--strip-program')) subject.add('obfuscated', 'install runs a program');
  const hasTarget = target !== undefined || isDirectoryMade || operands.length < 2;
  const sources = hasTarget ? operands : operands.slice(0, -1);
  if (isDirectoryMade) for (const directory of operands) subject.write(directory);
  else if (target) subject.write(target);
  else if (operands.length > 1) writeTarget(subject, operands.at(-1), sources);
  const place = target ?? operands.at(-1);
  for (const source of sources) {
    if (place && place !== source) subject.inquiry.written.noteCopy(source, place, subject.scope.directories);
    if (subject.program === 'ln') judgeLinked(subject, source);
    else subject.read(source);
    if (subject.program === 'mv') judgeMoved(subject, source, operands.at(-1));
  }
}

/** Files in a target directory have the names of the sources: they may be start-up files. */
function writeTarget(subject: CommandAnalysis, target: Argument | undefined, sources: readonly Argument[]): void {
  if (!target) return;
  subject.write(target);
  for (const { value } of sources) {
    const name = value?.replace(/\/+$/, '').split('/').pop();
    if (name === undefined || name === '' || target.value === undefined) continue;
    for (const path of resolvePath(`${target.value}/${name}`, subject.scope.directories)) {
      const kind = kindOf(path, subject.inquiry.facts);
      if (kind === 'startup' || kind === 'protected') subject.write({ ...target, value: path, shape: path ?? '' });
    }
  }
}

/** A later write to a link changes the target of the link. */
function judgeLinked(subject: CommandAnalysis, source: Argument): void {
  const { facts } = subject.inquiry;
  const paths = source.value === undefined ? [] : resolvePath(source.value, subject.scope.directories);
  for (const path of paths) {
    if (path === undefined) continue;
    const kind = kindOf(path, facts);
    const isSystem = (kind === 'system' && !isStandardProgram(path)) || kind === 'startup' || kind === 'protected';
    if (isSystem || kind === 'device' || isCritical(path, facts) || isRawDevice(path))
      subject.add('persistence', `ln links to a path that must not be changed: ${path}`);
  }
}

/** A moved file no longer exists at its source. */
function judgeMoved(subject: CommandAnalysis, source: Argument, target: Argument | undefined): void {
  const { facts } = subject.inquiry;
  if (target?.value?.startsWith('/dev/') === true && !target.value.startsWith('/dev/shm')) {
    subject.add('destructive', `mv replaces a device by a file: ${target.value}`);
  }
  if (source.value === undefined) {
    subject.addUnknown(source, 'the file that mv moves');
    return;
  }
  for (const path of resolvePath(source.value, subject.scope.directories)) {
    const kind = kindOf(path, facts);
    if (path !== undefined && (isCritical(path, facts) || isRawDevice(path))) subject.remove(source, 'mv moves', true);
    else if (kind !== 'workspace' && kind !== 'scratch') subject.add('destructive', `mv moves ${path ?? source.text}`);
    if (path === facts.workspace) subject.add('destructive', `mv moves the workspace: ${path}`);
  }
}

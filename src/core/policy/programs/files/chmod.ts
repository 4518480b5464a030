import type { Argument } from '../../words/argument.js';
import { parseArguments } from '../../subject/options.js';
import { isCritical, kindOf, mayBeCritical } from '../../paths/path-kinds.js';
import { resolvePath } from '../../paths/paths.js';
import { valued } from '../../subject/program-spec.js';
import type { CommandAnalysis } from '../../subject/command-analysis.js';

/** Modes that run a program with its owner's rights. */
export const SET_ID = /^(?:[0-7]?[2-7][0-7]{3}|[ugoa]*[+=][rwxXt]*s.*)$/;

/** `chmod`, `chown` and `chgrp`: judges the new modes and the files. */
export function judgeChmod(subject: CommandAnalysis): void {
  const label = subject.program ?? 'it';
  const args = subject.args.filter(({ shape }) => !/^-[rwxXstugo,+=-]+$/.test(shape) || /^-[RvfcHLP]+$/.test(shape));
  const { options, operands } = parseArguments(args, {
    options: { '-R': {}, '--recursive': {}, ...valued('--from --reference') },
  });
  const isRecursive = options.some(({ name }) => name === '-R' || name === '--recursive');
  const references = options.filter(({ name }) => name === '--reference');
  const hasMode = args.length === subject.args.length && references.length === 0;
  if (label === 'chmod') {
    judgeMode(subject, hasMode ? operands[0] : undefined);
    for (const { value } of references) judgeReference(subject, value);
  }
  for (const file of hasMode ? operands.slice(1) : operands) {
    if (isRecursive) judgeDepth(subject, label, file);
    subject.write(file);
  }
}

function judgeMode(subject: CommandAnalysis, mode: Argument | undefined): void {
  if (mode?.value !== undefined && SET_ID.test(mode.value))
    subject.add('privilege', 'chmod sets the set-user-ID or set-group-ID bit');
}

function judgeReference(subject: CommandAnalysis, file: Argument | undefined): void {
  if (!isOwn(subject, file))
    subject.add('privilege', 'chmod copies the mode of another file, which may have the set-user-ID bit');
}

/** A recursive change of a directory on which the machine depends cannot be undone. */
function judgeDepth(subject: CommandAnalysis, label: string, file: Argument): void {
  const { facts } = subject.inquiry;
  const mayBeFatal = file.isGlob ? mayBeCritical : isCritical;
  for (const path of file.value === undefined ? [] : resolvePath(file.value, subject.scope.directories)) {
    if (path !== undefined && mayBeFatal(path, facts) && kindOf(path, facts) !== 'workspace')
      subject.addFatal(`${label} changes everything in a directory on which the machine depends: ${path}`);
  }
}

/** Whether a file is in the workspace, so that its existing permissions were set by a user. */
function isOwn({ inquiry, scope }: CommandAnalysis, file: Argument | undefined): boolean {
  if (file?.value === undefined) return false;
  return resolvePath(file.value, scope.directories).every((path) => kindOf(path, inquiry.facts) === 'workspace');
}

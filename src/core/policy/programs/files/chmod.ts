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
  const hasReference = options.some(({ name }) => name === '--reference');
  const hasMode = args.length === subject.args.length && !hasReference;
  const [mode] = hasMode ? operands : [];
  if (label === 'chmod' && mode?.value !== undefined && SET_ID.test(mode.value)) {
    subject.add('privilege', 'chmod sets the set-user-ID or set-group-ID bit');
  }
  for (const { name, value } of label === 'chmod' ? options : []) {
    if (name === '--reference' && !isOwn(subject, value))
      subject.add('privilege', 'chmod copies the mode of another file, which may have the set-user-ID bit');
  }
  for (const file of hasMode ? operands.slice(1) : operands) {
    const { facts } = subject.inquiry;
    for (const path of file.value === undefined ? [] : resolvePath(file.value, subject.scope.directories)) {
      if (path === undefined || !isRecursive) continue;
      const isFatal = file.isGlob ? mayBeCritical(path, facts) : isCritical(path, facts);
      if (isFatal && kindOf(path, facts) !== 'workspace') {
        subject.addFatal(`${label} changes everything in a directory on which the machine depends: ${path}`);
      }
    }
    subject.write(file);
  }
}

/** Whether a file is in the workspace, so that its existing permissions were set by a user. */
function isOwn({ inquiry, scope }: CommandAnalysis, file: Argument | undefined): boolean {
  if (file?.value === undefined) return false;
  return resolvePath(file.value, scope.directories).every((path) => kindOf(path, inquiry.facts) === 'workspace');
}

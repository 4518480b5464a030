import { parseArguments } from '../../subject/options.js';
import type { CommandAnalysis } from '../../subject/command-analysis.js';
import { each, valued } from '../../subject/program-spec.js';

const OPTIONS = {
  ...each('-r -R --recursive -f --force -i -I -v -d --dir --preserve-root --one-file-system', {}),
  ...valued('-n -s --iterations --size'),
};

/** `rm` and similar programs: judges the files that are deleted. */
export function judgeRemoval(subject: CommandAnalysis): void {
  const { options, operands } = parseArguments(subject.args, { options: OPTIONS });
  const names = options.map(({ name }) => name);
  const isRecursive = names.some((name) => ['-r', '-R', '--recursive'].includes(name));
  // Without this option, GNU rm refuses "/" itself.
  if (names.some((name) => name.startsWith('--no-p')))
    subject.addFatal('rm --no-preserve-root allows deleting the root directory');
  if (operands.length === 0) subject.add('destructive', `${subject.program ?? 'it'} deletes files`);
  for (const operand of operands) subject.remove(operand, `${subject.program ?? 'it'} deletes`, isRecursive);
}

import { tailOf } from '../../subject/options.js';
import type { CommandAnalysis } from '../../subject/command-analysis.js';

/** `dd`: judges its operands, which are `name=value`. */
export function judgeDd(subject: CommandAnalysis): void {
  for (const arg of subject.args) {
    if (arg.shape.startsWith('of=')) {
      const file = tailOf(arg, 'of='.length);
      subject.write(file);
      subject.noteWritten(file);
    } else if (arg.shape.startsWith('if=')) subject.read(tailOf(arg, 'if='.length));
    else if (arg.value === undefined) subject.addUnknown(arg, 'an operand of dd');
  }
}

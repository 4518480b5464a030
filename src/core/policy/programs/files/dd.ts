import { tailOf } from '../../subject/options.js';
import type { Subject } from '../../subject/subject.js';

/** `dd`: operands are `name=value`. */
export function judgeDd(subject: Subject): void {
  for (const arg of subject.args) {
    if (arg.shape.startsWith('of=')) {
      const file = tailOf(arg, 'of='.length);
      subject.write(file);
      subject.noteWritten(file);
    } else if (arg.shape.startsWith('if=')) subject.read(tailOf(arg, 'if='.length));
    else if (arg.value === undefined) subject.findUnknown(arg, 'what dd writes to');
  }
}

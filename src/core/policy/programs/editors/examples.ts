import type { ProgramExamples } from '../../family/program-family.js';

/** Commands of this family, by class. */
export const EXAMPLES: ProgramExamples = {
  write: ['vim --version'],
  interactive: ['vim x', 'nano x', 'emacs x', 'ex x', 'kak x'],
  obfuscated: ["ex -c '!rm x'", 'emacs --batch --eval x'],
};

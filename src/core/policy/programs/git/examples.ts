import type { ProgramExamples } from '../../family/program-family.js';

/** Commands of this family, by class. */
export const EXAMPLES: ProgramExamples = {
  read: ['git status'],
  write: ['git add x'],
  execute: ['git commit -m x'],
  network: ['git push'],
  destructive: ['git reset --hard'],
  persistence: ['git config --global user.name x'],
  obfuscated: ['git -c core.pager=x log'],
};

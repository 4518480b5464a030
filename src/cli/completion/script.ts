import type { Command } from 'commander';

import { renderBash } from './bash.js';
import { renderFish } from './fish.js';
import { type Level, listLevels } from './levels.js';
import { renderZsh } from './zsh.js';

const RENDERERS = { bash: renderBash, zsh: renderZsh, fish: renderFish } as const satisfies Record<
  string,
  (levels: readonly Level[]) => string
>;

/** Shells with a completion script. */
export type CompletionShell = keyof typeof RENDERERS;

/** Names of the shells with a completion script. */
export const COMPLETION_SHELLS = Object.keys(RENDERERS) as CompletionShell[];

/** Renders the script for a shell, from the same command definitions that the program parses with. */
export const renderCompletion = (program: Command, shell: CompletionShell): string =>
  RENDERERS[shell](listLevels(program));

// completions/: the scripts by which shells complete the command line, for packages that install them.
import { renderCompletion } from '../../dist/cli/completion.js';
import { openProgram } from './command-tree.mjs';

/** Renders the script of a shell. */
export const renderCompletionScript = (shell) => renderCompletion(openProgram().program, shell);

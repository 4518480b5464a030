import { Argument, type Command } from 'commander';

import { COMPLETION_SHELLS, type CompletionShell, renderCompletion } from './script.js';
import { createCommand, examples, type Subcommand } from '../console/subcommand.js';

/** `completion`: prints the completion script of a shell for this program. */
export const completionSubcommand: Subcommand = (context) =>
  createCommand(context, 'completion')
    .summary('print the completion script for a shell')
    .description('Prints the script by which a shell completes subcommands, options and their values.')
    .addArgument(new Argument('<shell>', 'the shell').choices(COMPLETION_SHELLS))
    .addHelpText('after', HELP)
    .action(async (shell: CompletionShell, _options: object, command: Command) => {
      const program = command.parent;
      if (program) await context.stdout.write(renderCompletion(program, shell));
    });

const HELP = examples(
  'source <(shell-adapter completion bash)                  in ~/.bashrc',
  'source <(shell-adapter completion zsh)                   in ~/.zshrc, after compinit',
  'shell-adapter completion fish > ~/.config/fish/completions/shell-adapter.fish',
);

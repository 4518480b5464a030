import type { DecideOptions, ListOptions } from './confirmations.js';
import { withDaemonOptions } from '../connect/daemon-address.js';
import { UsageError } from '../console/failure.js';
import { createCommand, examples, type Subcommand } from '../options/subcommand.js';

interface ConfirmOptions extends ListOptions, DecideOptions {
  readonly approve?: boolean;
  readonly reject?: boolean;
  readonly watch?: boolean;
}

/** `confirm`: lists, watches and decides pending confirmations. */
export const confirmSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'confirm'))
    .summary('list and decide open confirmations')
    .description(
      'Lists the open confirmations, decides one of them, or follows them as they come. An operator ' +
        'needs a token of its own, of the role operator or admin; without one there is only what programs of this user ask for ' +
        'and may confirm themselves.',
    )
    .argument('[id]', 'the confirmation to decide over')
    .option('--approve', 'have the command run, and print its output')
    .option('--reject', 'have it not run')
    .option('-j, --justification <text>', 'why; needed to approve what was asked for without an operator')
    .option('-w, --watch', 'show what comes until Ctrl-C, and at a terminal ask about each')
    .option('--json', 'print JSON; with --watch a line for each event')
    .addHelpText('after', HELP)
    .action(async (id: string | undefined, options: ConfirmOptions) => {
      if (id === undefined ? isDecision(options) : !isOneDecision(options)) {
        throw new UsageError('give an id with either --approve or --reject, or --watch, or nothing to list');
      }
      if (options.watch) {
        const { watchConfirmations } = await import('./watch-confirmations.js');
        await watchConfirmations(context, options);
        return;
      }
      const { decideConfirmation, listConfirmations } = await import('./confirmations.js');
      if (id === undefined) await listConfirmations(context, options);
      else await decideConfirmation(context, id, options.approve ? 'approve' : 'reject', options);
    });

const isDecision = ({ approve = false, reject = false }: ConfirmOptions): boolean => approve || reject;

const isOneDecision = ({ approve = false, reject = false }: ConfirmOptions): boolean => approve !== reject;

const HELP = `${examples(
  'shell-adapter confirm',
  "shell-adapter confirm confirmation_ID --approve -j 'the build creates it again'",
  'SHELL_ADAPTER_TOKEN=… shell-adapter confirm --watch',
)}

Exit codes: with --approve the command's own; otherwise 0 done, 1 failed, 2 wrong usage.`;

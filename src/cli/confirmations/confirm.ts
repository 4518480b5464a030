import { Option } from 'commander';

import { REMEMBER_SCOPES } from '../../core/remember-scopes.js';
import type { DecideOptions, ListOptions } from './confirmations.js';
import { withDaemonOptions } from '../connect/daemon-address.js';
import type { Context } from '../console/context.js';
import { UsageError } from '../console/failure.js';
import { createCommand, examples, type Subcommand } from '../console/subcommand.js';

interface ConfirmOptions extends ListOptions, DecideOptions {
  readonly approve?: boolean;
  readonly reject?: boolean;
  readonly watch?: boolean;
  readonly remembered?: boolean;
  readonly revoke?: string;
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
    .addOption(
      new Option(
        '--remember <scope>',
        'with --approve: the same command needs no confirmation again, for how long',
      ).choices([...REMEMBER_SCOPES]),
    )
    .option('--remembered', 'list the remembered approvals')
    .option('--revoke <id>', 'with --remembered: revoke one of them')
    .option('-w, --watch', 'show what comes until Ctrl-C, and at a terminal ask about each')
    .option('--json', 'print JSON; with --watch a line for each event')
    .addHelpText('after', HELP)
    .action((id: string | undefined, options: ConfirmOptions) => {
      assertConsistent(id, options);
      return run(context, id, options);
    });

async function run(context: Context, id: string | undefined, options: ConfirmOptions): Promise<void> {
  if (options.remembered) {
    const { listRemembered, revokeRemembered } = await import('./remembered.js');
    if (options.revoke === undefined) await listRemembered(context, options);
    else await revokeRemembered(context, options.revoke, options);
    return;
  }
  if (options.watch) {
    const { watchConfirmations } = await import('./watch-confirmations.js');
    await watchConfirmations(context, options);
    return;
  }
  const { decideConfirmation, listConfirmations } = await import('./confirmations.js');
  if (id === undefined) await listConfirmations(context, options);
  else await decideConfirmation(context, id, options.approve ? 'approve' : 'reject', options);
}

/** @throws UsageError when the options do not fit together */
function assertConsistent(id: string | undefined, options: ConfirmOptions): void {
  const { remember, remembered, revoke, watch, approve } = options;
  const isDecided = isDecision(options);
  const faults: [boolean, string][] = [
    [remember !== undefined && approve !== true, '--remember goes with --approve'],
    [revoke !== undefined && remembered !== true, '--revoke goes with --remembered'],
    [
      isList(options) && (id !== undefined || watch === true || isDecided),
      '--remembered takes only --revoke and --json',
    ],
    [
      id === undefined ? isDecided : !isOneDecision(options),
      'give an id with either --approve or --reject, or --watch, or nothing to list',
    ],
  ];
  const fault = faults.find(([isFault]) => isFault);
  if (fault) throw new UsageError(fault[1]);
}

const isList = ({ remembered = false }: ConfirmOptions): boolean => remembered;

const isDecision = ({ approve = false, reject = false }: ConfirmOptions): boolean => approve || reject;

const isOneDecision = ({ approve = false, reject = false }: ConfirmOptions): boolean => approve !== reject;

const HELP = `${examples(
  'shell-adapter confirm',
  "shell-adapter confirm confirmation_ID --approve -j 'the build creates it again'",
  'shell-adapter confirm confirmation_ID --approve --remember hour -j cleanup',
  'shell-adapter confirm --remembered',
  'shell-adapter confirm --remembered --revoke approval_ID',
  'SHELL_ADAPTER_TOKEN=… shell-adapter confirm --watch',
)}

Exit codes: with --approve the command's own; otherwise 0 done, 1 failed, 2 wrong usage.`;

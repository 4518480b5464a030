import type { ConfirmationInfo, RememberedInfo } from '../../client/index.js';
import { REMEMBER_SCOPES, type RememberScope } from '../../core/remember-scopes.js';
import type { DaemonOptions } from '../connect/daemon-address.js';
import { DAEMON_OPTIONS } from '../connect/requesting.js';
import { withDaemon } from '../connect/with-daemon.js';
import type { Context } from '../console/context.js';
import { UsageError } from '../console/failure.js';
import { formatSpan, onOneLine, table } from '../console/style.js';
import { type JsonOption, printAnswer, type Subcommand } from '../console/subcommand.js';

export const confirmSubcommand: Subcommand = {
  summary: 'list and decide open confirmations',
  description:
    'Lists the open confirmations, decides one of them, or follows them as they come. An operator ' +
    'needs a token of its own, of the role operator or admin; without one there is only what programs of this user ask for ' +
    'and may confirm themselves.',
  arguments: [['[id]', 'the confirmation to decide over']],
  options: [
    ...DAEMON_OPTIONS,
    ['--approve', 'have the command run, and print its output'],
    ['--reject', 'have it not run'],
    ['-j, --justification <text>', 'why; needed to approve what was asked for without an operator'],
    [
      '--remember <scope>',
      'with --approve: the same command needs no confirmation again, for how long',
      { choices: REMEMBER_SCOPES },
    ],
    ['--remembered', 'list the remembered approvals'],
    ['--revoke <id>', 'with --remembered: revoke one of them'],
    ['-w, --watch', 'show what comes until Ctrl-C, and at a terminal ask about each'],
    ['--json', 'print JSON; with --watch a line for each event'],
  ],
  examples: [
    'shell-adapter confirm',
    "shell-adapter confirm confirmation_ID --approve -j 'the build creates it again'",
    'shell-adapter confirm confirmation_ID --approve --remember hour -j cleanup',
    'shell-adapter confirm --remembered',
    'shell-adapter confirm --remembered --revoke approval_ID',
    'SHELL_ADAPTER_TOKEN=… shell-adapter confirm --watch',
  ],
  exitCodes: "with --approve the command's own; otherwise 0 done, 1 failed, 2 wrong usage.",
  run: confirm,
};

interface Asked extends DaemonOptions, JsonOption {
  readonly approve?: boolean;
  readonly reject?: boolean;
  readonly justification?: string;
  readonly remember?: RememberScope;
  readonly remembered?: boolean;
  readonly revoke?: string;
  readonly watch?: boolean;
}

async function confirm(context: Context, options: Asked, id?: string): Promise<void> {
  assertConsistent(id, options);
  if (options.remembered) {
    await (options.revoke === undefined ? listRemembered(context, options) : revoke(context, options.revoke, options));
  } else if (options.watch) {
    const { watchConfirmations } = await import('./watch-confirmations.js');
    await watchConfirmations(context, options);
  } else if (id === undefined) {
    const answer = await withDaemon(options, context, (client) => client.request('list_confirmations', {}));
    await printAnswer(context, options, answer, () => renderConfirmations(answer.confirmations, Date.now()));
  } else {
    const { decideConfirmation } = await import('./confirmations.js');
    await decideConfirmation(context, id, { ...options, decision: options.approve ? 'approve' : 'reject' });
  }
}

/** @throws UsageError when the options do not fit together */
function assertConsistent(id: string | undefined, options: Asked): void {
  const { remember, revoke: revoked } = options;
  const isDecided = options.approve === true || options.reject === true;
  const isMore = isDecided || options.watch === true || id !== undefined;
  const faults: [boolean, string][] = [
    [remember !== undefined && options.approve !== true, '--remember goes with --approve'],
    [revoked !== undefined && options.remembered !== true, '--revoke goes with --remembered'],
    [options.remembered === true && isMore, '--remembered takes only --revoke and --json'],
    [
      id === undefined ? isDecided : !isDecided || options.approve === options.reject,
      'give an id with either --approve or --reject, or --watch, or nothing to list',
    ],
  ];
  const fault = faults.find(([isFault]) => isFault);
  if (fault) throw new UsageError(fault[1]);
}

/** Longest cell of a table, in characters. */
const MAX_CELL = 40;

function renderConfirmations(confirmations: readonly ConfirmationInfo[], now: number): string[] {
  const rows = confirmations.map((asked) => {
    const left = formatSpan(Date.parse(asked.expires_at) - now);
    const words = [asked.command, ...(asked.args ?? [])].join(' ');
    const cells = [asked.requested_by, asked.working_directory, words].map((cell) => onOneLine(cell, MAX_CELL));
    return [asked.confirmation_id, asked.requires, asked.class, left, ...cells];
  });
  const head = ['CONFIRMATION', 'BY WHOM', 'CLASS', 'LEFT', 'ASKED BY', 'DIRECTORY', 'COMMAND'];
  return table(head, rows, 'Nothing waits for a confirmation.');
}

/** Prints the remembered approvals, and a problem with their file on stderr. */
async function listRemembered(context: Context, options: DaemonOptions & JsonOption): Promise<void> {
  const answer = await withDaemon(options, context, (client) => client.rememberedApprovals());
  await printAnswer(context, options, answer, () => renderRemembered(answer.approvals, Date.now()));
  if (answer.problem !== null && options.json !== true)
    await context.stderr.write(`shell-adapter: approvals of the scope always do not count: ${answer.problem}\n`);
}

async function revoke(context: Context, id: string, options: DaemonOptions & JsonOption): Promise<void> {
  const answer = await withDaemon(options, context, (client) => client.request('revoke_remembered_approval', { id }));
  await printAnswer(context, options, answer, () => `revoked ${id}: ${onOneLine(answer.revoked.pattern, Infinity)}`);
}

function renderRemembered(approvals: readonly RememberedInfo[], now: number): string[] {
  const rows = approvals.map((approval) => {
    const left = approval.expires_at === null ? '-' : formatSpan(Date.parse(approval.expires_at) - now);
    const cells = [approval.requested_by, approval.approved_by, approval.working_directory].map((cell) =>
      onOneLine(cell, MAX_CELL),
    );
    return [approval.id, approval.scope, left, ...cells, onOneLine(approval.pattern, Infinity)];
  });
  const head = ['APPROVAL', 'SCOPE', 'LEFT', 'FOR', 'APPROVED BY', 'DIRECTORY', 'COMMAND'];
  return table(head, rows, 'No approval is remembered.');
}

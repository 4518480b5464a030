import type { Answer } from '../../client/index.js';
import type { Context } from '../console/context.js';
import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import { describeSkipped, formatBytes } from './checkpoint-output.js';
import { UsageError } from '../console/failure.js';
import { alignColumns } from '../console/columns.js';
import { formatSpan, onOneLine } from '../console/style.js';
import { createCommand, examples, type Subcommand } from '../options/subcommand.js';
import { withDaemon } from '../connect/with-daemon.js';

interface CheckpointOptions extends DaemonOptions {
  readonly list?: boolean;
  readonly json?: boolean;
}

/** Longest label in the table, in characters. */
const MAX_LABEL = 60;

/** `checkpoint`: saves the workspace of the daemon, for `diff` and `restore`. */
export const checkpointSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'checkpoint'))
    .summary('save the workspace, or list what was saved')
    .description(
      'Saves everything in the workspace of the daemon and prints the id of the checkpoint, for `diff` and `restore`. ' +
        'What .git directories hold is not in it.',
    )
    .argument('[label]', 'a name for people')
    .option('--list', 'save nothing; list the checkpoints, the oldest first')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples('id=$(shell-adapter checkpoint "before the upgrade")', 'shell-adapter checkpoint --list'),
    )
    .action(async (label: string | undefined, options: CheckpointOptions) => {
      if (options.list === true && label !== undefined)
        throw new UsageError('--list saves nothing, and takes no label');
      if (options.list === true) await listCheckpoints(context, options);
      else await saveWorkspace(context, label, options);
    });

async function saveWorkspace(context: Context, label: string | undefined, options: CheckpointOptions): Promise<void> {
  const saved = await withDaemon(options, context, (client) => client.request('checkpoint_workspace', { label }));
  // .git is always skipped, so it is not worth a line.
  const skipped = saved.skipped.filter(({ reason }) => reason !== 'git_directory');
  if (options.json !== true && skipped.length > 0) {
    await context.stderr.write(`shell-adapter: not saved:\n${describeSkipped(skipped)}\n`);
  }
  await context.stdout.write(`${options.json === true ? JSON.stringify(saved, null, 2) : saved.checkpoint_id}\n`);
}

async function listCheckpoints(context: Context, options: CheckpointOptions): Promise<void> {
  const answer = await withDaemon(options, context, (client) => client.request('list_checkpoints', {}));
  const text = options.json === true ? JSON.stringify(answer, null, 2) : renderTable(answer, Date.now());
  await context.stdout.write(`${text}\n`);
}

function renderTable({ checkpoints }: Answer<'list_checkpoints'>, now: number): string {
  if (checkpoints.length === 0) return 'There is no checkpoint of the workspace.';
  const rows = checkpoints.map(({ checkpoint_id: id, kind, label, created_at: createdAt, files, bytes }) => {
    const age = formatSpan(now - Date.parse(createdAt));
    return [id, kind, age, String(files), formatBytes(bytes), onOneLine(label ?? '-', MAX_LABEL)];
  });
  return alignColumns([['CHECKPOINT', 'KIND', 'AGE', 'FILES', 'SIZE', 'LABEL'], ...rows]).join('\n');
}

import { Option } from 'commander';

import type { Answer } from '../../client/index.js';
import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import { withDaemon } from '../connect/with-daemon.js';
import { alignColumns, formatSpan, onOneLine, paint } from '../console/style.js';
import { commandLineFor, type Context, type Output } from '../console/context.js';
import { EXIT, UsageError } from '../console/failure.js';
import { createCommand, examples, type Subcommand } from '../console/subcommand.js';
import {
  describeSkipped,
  formatBytes,
  howToConfirmRestore,
  printRestored,
  restOf,
  showPath,
} from './checkpoint-output.js';

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

interface DiffOptions extends DaemonOptions {
  readonly stat?: boolean;
  readonly patch?: boolean;
  readonly json?: boolean;
}

/** `diff`: prints the changes in the workspace of the daemon. */
export const diffSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'diff'))
    .summary('list the changes of the workspace since a checkpoint')
    .description('Lists the changes of the workspace of the daemon since a checkpoint.')
    .argument('[checkpoint]', 'its id; the newest unless given')
    .argument('[path...]', 'only these, relative to the workspace, each with all that is in it')
    .addOption(new Option('--stat', 'count the lines that came and went').conflicts('patch'))
    .option('-p, --patch', 'print a patch, for patch(1) or `git apply`')
    .option('--json', 'print JSON, as `diff_workspace` answers')
    .addHelpText('after', examples('shell-adapter diff', 'shell-adapter diff checkpoint_ID src --patch | less'))
    .action(async (id: string | undefined, paths: readonly string[], options: DiffOptions) => {
      await showDiff(context, id, paths, options);
    });

async function showDiff(
  context: Context,
  id: string | undefined,
  paths: readonly string[],
  options: DiffOptions,
): Promise<void> {
  const { stat, patch, json } = options;
  const { MAX_RESULT_CHARACTERS } = await import('../../core/protocol/fields.js');
  const answer = await withDaemon(options, context, (client) =>
    client.request('diff_workspace', {
      checkpoint_id: id,
      paths: paths.length === 0 ? undefined : [...paths],
      format: patch === true ? 'patch' : stat === true ? 'stat' : 'names',
      // Binary and not truncated, so that the patch can be applied.
      ...(patch === true && json !== true && { output: { max_size: MAX_RESULT_CHARACTERS, encoding: 'base64' } }),
    }),
  );
  if (json === true) await context.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
  else if (answer.patch === null) await context.stdout.write(renderChanges(context.stdout, answer));
  else await context.stdout.write(Buffer.from(answer.patch, 'base64'));
  if (answer.patch_truncated && json !== true) {
    await context.stderr.write('shell-adapter: the patch is too long and has a gap; name paths to get it in parts\n');
  }
}

const COLOURS = {
  added: 'green',
  deleted: 'red',
  modified: 'yellow',
  type_changed: 'yellow',
  mode_changed: 'yellow',
} as const;

function renderChanges(stdout: Output, { changes, change_count: count }: Answer<'diff_workspace'>): string {
  const rows = changes.map(({ path, status, insertions, deletions }) => {
    const counts = insertions === undefined || deletions === undefined ? [] : [countsOf(insertions, deletions)];
    return [status.replace('_', ' '), ...counts, showPath(path)];
  });
  const lines = alignColumns(rows).map((line, index) => {
    const { status = 'modified' } = changes[index] ?? {};
    const { length } = status;
    return paint(stdout, COLOURS[status], line.slice(0, length)) + line.slice(length);
  });
  return [...lines, ...restOf(changes.length, count)].map((line) => `${line}\n`).join('');
}

const countsOf = (insertions: number | null, deletions: number | null): string =>
  insertions === null || deletions === null ? 'binary' : `+${insertions} -${deletions}`;

interface RestoreOptions extends DaemonOptions {
  readonly json?: boolean;
}

/** `restore`: restores the workspace of the daemon from a checkpoint. */
export const restoreSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'restore'))
    .summary('restore the workspace from a checkpoint')
    .description(
      'Restores the workspace of the daemon, or paths of it, from a checkpoint: files added since are removed. ' +
        'The current state is saved first; the last line says how to undo the restore.',
    )
    .argument('<checkpoint>', 'its id')
    .argument('[path...]', 'only these, relative to the workspace, each with all that is in it')
    .option('--json', 'print JSON, as `restore_workspace` answers')
    .addHelpText('after', HELP)
    .action(async (id: string, paths: readonly string[], { json, ...options }: RestoreOptions) => {
      const answer = await withDaemon(options, context, (client) =>
        client.request('restore_workspace', {
          checkpoint_id: id,
          paths: paths.length === 0 ? undefined : [...paths],
        }),
      );
      const commandLine = commandLineFor(context, options);
      const isPending = answer.status === 'confirmation_required';
      if (isPending) context.exitWith(EXIT.execDenied);
      if (json === true) await context.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
      else if (isPending) await context.stderr.write(howToConfirmRestore(commandLine, answer));
      else await printRestored(context, commandLine, answer);
    });

const HELP = `${examples('shell-adapter restore checkpoint_ID', 'shell-adapter restore checkpoint_ID src/main.c docs')}

When it fails, nothing has changed. A .git directory is never touched. If other tokens have run commands in the
workspace since the checkpoint, and files would be removed or overwritten, the restore has to be confirmed first.

Exit codes: 0 restored, 1 failed, 126 not confirmed yet.`;

import { Option } from 'commander';

import type { Answer } from '../../client/index.js';
import { restOf, showPath } from './checkpoint-output.js';
import type { Context, Output } from '../console/context.js';
import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import { alignColumns } from '../console/columns.js';
import { paint } from '../console/style.js';
import { createCommand, examples, type Subcommand } from '../options/subcommand.js';
import { withDaemon } from '../connect/with-daemon.js';

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

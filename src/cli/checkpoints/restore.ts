import type { Answer } from '../../client/index.js';
import { describeSkipped, restOf, showPath } from './checkpoint-output.js';
import { type CommandLine, commandLineFor } from '../console/command-line.js';
import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import { createCommand, examples, type Subcommand } from '../options/subcommand.js';
import { withDaemon } from '../connect/with-daemon.js';

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
      await context.stdout.write(
        json === true ? `${JSON.stringify(answer, null, 2)}\n` : render(commandLineFor(context, options), answer),
      );
      if (json !== true && answer.skipped.length > 0) {
        await context.stderr.write(`shell-adapter: not as it was:\n${describeSkipped(answer.skipped)}\n`);
      }
    });

function render(commandLine: CommandLine, answer: Answer<'restore_workspace'>): string {
  const { restored, restored_count: back, removed, removed_count: gone, undo_checkpoint_id: undo } = answer;
  const lines = [
    ...restored.map((path) => `restored ${showPath(path)}`),
    ...restOf(restored.length, back),
    ...removed.map((path) => `removed  ${showPath(path)}`),
    ...restOf(removed.length, gone),
    `${back} restored, ${gone} removed; undo: ${commandLine(`restore ${undo}`)}`,
  ];
  return lines.map((line) => `${line}\n`).join('');
}

const HELP = `${examples('shell-adapter restore checkpoint_ID', 'shell-adapter restore checkpoint_ID src/main.c docs')}

When it fails, nothing has changed. A .git directory is never touched.

Exit codes: 0 restored, 1 failed.`;

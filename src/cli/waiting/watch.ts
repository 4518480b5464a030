import type { PathChanges } from '../../client/index.js';
import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import { withDaemon } from '../connect/with-daemon.js';
import { type Context, untilStopped } from '../console/context.js';
import { createCommand, examples, readNumber, type Subcommand } from '../console/subcommand.js';

/** Bounds of the time between two batches, in seconds. */
const MIN_DEBOUNCE_S = 0.02;
const MAX_DEBOUNCE_S = 10;
/** Width of the first column, in characters. */
const CHANGE_WIDTH = 'overflow'.length;

interface WatchCommandOptions extends DaemonOptions {
  readonly session?: string;
  readonly recursive?: boolean;
  readonly debounce?: number;
  readonly json?: boolean;
}

/** `watch`: prints what changes below paths. */
export const watchSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'watch'))
    .summary('print what changes below files and directories')
    .description(
      'Prints a line for each file or directory that is created, changed or removed on the machine of the daemon, until it is ' +
        'interrupted. `overflow` means that more has changed than is printed.',
    )
    .argument('<path...>', 'relative to the session, or to the workspace')
    .option('-r, --recursive', 'watch what is in the directories below, without .git and what a .gitignore excludes')
    .option('-s, --session <id>', 'take the paths from the directory of this session')
    .option(
      '--debounce <seconds>',
      'shortest time between two looks; by default 0.1',
      readNumber({ min: MIN_DEBOUNCE_S, max: MAX_DEBOUNCE_S, isWhole: false }),
    )
    .option('--json', 'print a JSON object on each line')
    .addHelpText('after', HELP)
    .action((paths: string[], options: WatchCommandOptions) => watch(context, paths, options));

const HELP = `${examples('shell-adapter watch -r src package.json', 'shell-adapter watch --session session_ID build --json')}

Exit codes: 0 it was interrupted, 1 it failed, or the session has ended.`;

async function watch(
  context: Context,
  paths: readonly string[],
  { session, recursive, debounce, json = false, ...options }: WatchCommandOptions,
): Promise<void> {
  const debounceMs = debounce === undefined ? undefined : Math.round(debounce * 1000);
  await untilStopped(context, (signal) =>
    withDaemon(options, context, async (client) => {
      await using watched = await client.watchPaths(paths, { sessionId: session, recursive, debounceMs });
      const stop = () => void watched.close();
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
      const count = watched.paths.length;
      await context.stderr.write(
        `shell-adapter: watching ${count === 1 ? watched.paths.join('') : `${count} paths`}\n`,
      );
      for await (const changes of watched) await context.stdout.write(json ? jsonLines(changes) : textLines(changes));
    }),
  );
}

function textLines({ changes, overflow }: PathChanges): string {
  const lines = changes.map(({ path, change }) => `${change.padEnd(CHANGE_WIDTH)}  ${path}`);
  if (overflow) lines.push('overflow  more has changed than is printed');
  return lines.map((line) => `${line}\n`).join('');
}

function jsonLines({ changes, overflow }: PathChanges): string {
  const objects: object[] = overflow ? [...changes, { change: 'overflow' }] : [...changes];
  return objects.map((each) => `${JSON.stringify(each)}\n`).join('');
}

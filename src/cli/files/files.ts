import type { PathChanges } from '../../client/index.js';
import { onAbort } from '../../core/abort.js';
import { MAX_DEBOUNCE_MS, MIN_DEBOUNCE_MS } from '../../core/protocol/bounds.js';
import type { DaemonOptions } from '../connect/daemon-address.js';
import { DAEMON_OPTIONS } from '../connect/requesting.js';
import { withDaemon } from '../connect/with-daemon.js';
import { type Context, untilStopped } from '../console/context.js';
import { type JsonOption, seconds, type Subcommand } from '../console/subcommand.js';

/** Width of the first column, in characters. */
const CHANGE_WIDTH = 'overflow'.length;

const cp: Subcommand = {
  summary: 'copy files to the daemon, or from it',
  description:
    'Copies a file to the machine of the daemon, or from it. A colon marks the side of the daemon, whose paths are relative to its ' +
    'workspace. A copy whose connection breaks goes on where it was; one of a large file also when it is called again. What ' +
    'arrives is checked by SHA-256, and takes its place when it is complete, with its permissions.',
  arguments: [
    ['<source>', 'what to copy; `:path` for a path of the daemon'],
    ['<destination>', 'where to put it; a directory that exists gets it under its own name'],
  ],
  options: [
    ...DAEMON_OPTIONS,
    ['-r, --recursive', 'copy directories with all that is in them; links are left out'],
    ['-s, --session <id>', 'take the paths of the daemon from the directory of this session'],
  ],
  examples: [
    'shell-adapter cp data.csv :                 into the workspace',
    'shell-adapter cp :build/app.tar.gz .        from the workspace',
    'shell-adapter cp -r site :/srv/www/site     a directory',
  ],
  load: async () => (await import('./copy.js')).copy,
};

const watch: Subcommand = {
  summary: 'print what changes below files and directories',
  description:
    'Prints a line for each file or directory that is created, changed or removed on the machine of the daemon, until it is ' +
    'interrupted. `overflow` means that more has changed than is printed.',
  arguments: [['<path...>', 'relative to the session, or to the workspace']],
  options: [
    ...DAEMON_OPTIONS,
    ['-r, --recursive', 'watch what is in the directories below, without .git and what a .gitignore excludes'],
    ['-s, --session <id>', 'take the paths from the directory of this session'],
    [
      '--debounce <seconds>',
      'shortest time between two looks; by default 0.1',
      { read: seconds(MIN_DEBOUNCE_MS, MAX_DEBOUNCE_MS) },
    ],
    ['--json', 'print a JSON object on each line'],
  ],
  examples: ['shell-adapter watch -r src package.json', 'shell-adapter watch --session session_ID build --json'],
  exitCodes: '0 it was interrupted, 1 it failed, or the session has ended.',
  run: printChanges,
};

interface Watched extends DaemonOptions, JsonOption {
  readonly session?: string;
  readonly recursive?: boolean;
  /** In milliseconds. */
  readonly debounce?: number;
}

async function printChanges(
  context: Context,
  { session, recursive, debounce, json = false, ...options }: Watched,
  paths: readonly string[],
): Promise<void> {
  await untilStopped(context, (signal) =>
    withDaemon(options, context, async (client) => {
      await using watched = await client.watchPaths(paths, { sessionId: session, recursive, debounceMs: debounce });
      onAbort(signal, () => void watched.close());
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

export const fileSubcommands = { cp, watch };

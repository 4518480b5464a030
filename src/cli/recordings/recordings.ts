import { createInterface } from 'node:readline';

import type { AdapterClient, Answer } from '../../client/index.js';
import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import { withDaemon } from '../connect/with-daemon.js';
import type { Context } from '../console/context.js';
import { UsageError } from '../console/failure.js';
import { alignColumns, formatSpan, onOneLine } from '../console/style.js';
import { createCommand, examples, readNumber, sandboxOption, type Subcommand } from '../console/subcommand.js';
import { downloadRecording } from './download.js';
import type { RecordOptions } from './record-session.js';
import type { ReplayOptions } from './replay-recording.js';

/** Asks the person at the terminal; true for `y` or `yes`. */
async function askYes({ stdin, stderr }: Pick<Context, 'stdin' | 'stderr'>, question: string): Promise<boolean> {
  const lines = createInterface({ input: stdin, terminal: false });
  try {
    await stderr.write(question);
    const line = await new Promise<string>((resolve) => {
      lines.once('line', resolve);
      lines.once('close', () => {
        resolve('');
      });
    });
    return /^y(?:es)?$/iu.test(line.trim());
  } finally {
    lines.close();
  }
}

interface RecordingsOptions extends DaemonOptions {
  readonly json?: boolean;
  readonly delete?: string;
  readonly yes?: boolean;
  readonly save?: string;
}

/** `recordings`: lists, saves and deletes recordings. */
export const recordingsSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'recordings'))
    .summary('list, save and delete recordings')
    .description('Lists the recordings of sessions, the newest first; or saves or deletes one.')
    .option(
      '--save <id>',
      'write a recording to standard output: a file for `replay` and other players of asciicast v2',
    )
    .option('--delete <id>', 'delete a recording, after a question')
    .option('-y, --yes', 'delete without the question')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        'shell-adapter recordings',
        'shell-adapter recordings --save recording_ID > deploy.cast',
        'shell-adapter recordings --delete recording_ID --yes',
      ),
    )
    .action(async ({ json = false, save, delete: deleted, yes = false, ...options }: RecordingsOptions) => {
      if (save !== undefined && deleted !== undefined) throw new UsageError('give --save or --delete, not both');
      await withDaemon(options, context, async (client) => {
        if (save !== undefined) await context.stdout.write(await downloadRecording(client, save));
        else if (deleted !== undefined) await deleteRecording(context, client, deleted, { json, yes });
        else await list(context, client, json);
      });
    });

/** Most recordings that one request gives. */
const LIMIT = 1000;

async function list({ stdout }: Context, client: AdapterClient, json: boolean): Promise<void> {
  const answer = await client.request('list_recordings', { limit: LIMIT });
  await stdout.write(json ? `${JSON.stringify(answer, null, 2)}\n` : `${renderRecordings(answer).join('\n')}\n`);
}

async function deleteRecording(
  context: Context,
  client: AdapterClient,
  id: string,
  { json, yes }: { readonly json: boolean; readonly yes: boolean },
): Promise<void> {
  if (!yes) {
    if (!context.stdin.isTTY) throw new UsageError('there is no terminal for the question: add --yes to delete it');
    if (!(await askYes(context, `Delete ${onOneLine(id, MAX_CELL)}? [y/N] `))) {
      await context.stderr.write('shell-adapter: not deleted\n');
      return;
    }
  }
  const answer = await client.request('delete_recording', { recording_id: id });
  await context.stdout.write(json ? `${JSON.stringify(answer, null, 2)}\n` : `deleted ${answer.recording_id}\n`);
}

/** Longest title in the table, in characters. */
const MAX_CELL = 40;
const KIB = 1024;
const MIB = 1024 * KIB;

const formatBytes = (bytes: number): string =>
  bytes < MIB ? `${Math.ceil(bytes / KIB)} KB` : `${(bytes / MIB).toFixed(1)} MB`;

function renderRecordings({ recordings, truncated }: Answer<'list_recordings'>): string[] {
  if (recordings.length === 0) return ['There are no recordings.'];
  const rows = recordings.map((recording) => {
    const { recording_id: id, owner, started_at: started, duration_ms: ms, bytes, state, title } = recording;
    return [id, owner, started, formatSpan(ms), formatBytes(bytes), state, onOneLine(title ?? '-', MAX_CELL)];
  });
  const table = alignColumns([['RECORDING', 'OWNER', 'STARTED', 'LENGTH', 'SIZE', 'STATE', 'TITLE'], ...rows]);
  return truncated ? [...table, 'There are more.'] : table;
}

/** `record`: works in a shell of the daemon, and records that. */
export const recordSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'record'))
    .summary('work in a recorded session')
    .description(
      'Opens a session with a shell at this terminal, and records it. Its end is that of the shell (`exit`, Ctrl-D), or ' +
        'Ctrl-]. Then the id of the recording is printed.',
    )
    .argument('[file]', 'save the recording in this file too, which must not exist')
    .option('--title <text>', 'a name for people')
    .option('--cwd <directory>', 'where it starts; by default in the workspace of the daemon')
    .option('--shell <shell>', 'bash, zsh, sh or fish, or the path of one')
    .addOption(sandboxOption())
    .addHelpText('after', RECORD_HELP)
    .action(async (file: string | undefined, options: RecordOptions) => {
      const { recordSession } = await import('./record-session.js');
      await recordSession(context, file, options);
    });

const RECORD_HELP = `${examples('shell-adapter record', "shell-adapter record --title 'how to deploy' deploy.cast")}

Text that the terminal does not echo, such as passwords, is recorded as ***. The policy may ask whether the shell may run.
The shell ends at the latest after adapter.command_max_lifetime.

Exit codes: that of the shell; 1 it could not be recorded or saved, 2 wrong usage, 126 the shell may not run, 130 left by Ctrl-].`;

const MAX_SPEED = 1000;
/** A day. */
const MAX_IDLE_S = 86_400;

/** `replay`: plays a recording at this terminal. */
export const replaySubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'replay'))
    .summary('play a recording')
    .description('Plays a recording of the daemon, or a file in the format asciicast v2, with its timing.')
    .argument('<id-or-file>', 'id of a recording, or a file')
    .option('--speed <factor>', 'how much faster', readNumber({ min: 0.01, max: MAX_SPEED, isWhole: false }))
    .option(
      '--idle <seconds>',
      'longest pause between two events',
      readNumber({ min: 0, max: MAX_IDLE_S, isWhole: false }),
    )
    .addHelpText('after', REPLAY_HELP)
    .action(async (source: string, options: ReplayOptions) => {
      const { replayRecording } = await import('./replay-recording.js');
      await replayRecording(context, source, options);
    });

const REPLAY_HELP = `${examples('shell-adapter replay recording_ID', 'shell-adapter replay deploy.cast --speed 4 --idle 1')}

Keys: space pauses and goes on; the right and left arrows move by 5 seconds; n and p jump to the next and previous
command; q or Ctrl-C ends it.`;

import type { AdapterClient, Answer } from '../../client/index.js';
import { MAX_RECORDINGS } from '../../core/protocol/bounds.js';
import type { DaemonOptions } from '../connect/daemon-address.js';
import { DAEMON_OPTIONS } from '../connect/requesting.js';
import { withDaemon } from '../connect/with-daemon.js';
import type { Context } from '../console/context.js';
import { UsageError } from '../console/failure.js';
import { formatBytes, formatSpan, onOneLine, table } from '../console/style.js';
import {
  JSON_OPTION,
  type JsonOption,
  number,
  path,
  printAnswer,
  SANDBOX_OPTION,
  type Subcommand,
} from '../console/subcommand.js';

const recordings: Subcommand = {
  summary: 'list, save and delete recordings',
  description: 'Lists the recordings of sessions, the newest first; or saves or deletes one.',
  options: [
    ...DAEMON_OPTIONS,
    ['--save <id>', 'write a recording to standard output: a file for `replay` and other players of asciicast v2'],
    ['--delete <id>', 'delete a recording, after a question'],
    ['-y, --yes', 'delete without the question'],
    JSON_OPTION,
  ],
  examples: [
    'shell-adapter recordings',
    'shell-adapter recordings --save recording_ID > deploy.cast',
    'shell-adapter recordings --delete recording_ID --yes',
  ],
  run: async (context, options: Managed) => {
    const { save, delete: deleted } = options;
    if (save !== undefined && deleted !== undefined) throw new UsageError('give --save or --delete, not both');
    await withDaemon(options, context, async (client) => {
      if (save !== undefined) {
        const { downloadRecording } = await import('./replay-recording.js');
        await context.stdout.write(await downloadRecording(client, save));
      } else if (deleted !== undefined) await deleteRecording(context, client, deleted, options);
      else {
        const answer = await client.request('list_recordings', { limit: MAX_RECORDINGS });
        await printAnswer(context, options, answer, renderRecordings);
      }
    });
  },
};

interface Managed extends DaemonOptions, JsonOption {
  readonly delete?: string;
  readonly yes?: boolean;
  readonly save?: string;
}

async function deleteRecording(context: Context, client: AdapterClient, id: string, options: Managed): Promise<void> {
  if (options.yes !== true) {
    if (!context.stdin.isTTY) throw new UsageError('there is no terminal for the question: add --yes to delete it');
    if (!(await askYes(context, `Delete ${onOneLine(id, MAX_CELL)}? [y/N] `))) {
      await context.stderr.write('shell-adapter: not deleted\n');
      return;
    }
  }
  const answer = await client.request('delete_recording', { recording_id: id });
  await printAnswer(context, options, answer, () => `deleted ${answer.recording_id}`);
}

async function askYes(context: Context, question: string): Promise<boolean> {
  const { nextLine } = await import('../run/confirmations.js');
  using typed = nextLine(context);
  await context.stderr.write(question);
  return /^y(?:es)?$/iu.test((await typed.line).trim());
}

/** Longest title in the table, in characters. */
const MAX_CELL = 40;

function renderRecordings({ recordings: found, truncated }: Answer<'list_recordings'>): string[] {
  const rows = found.map((recording) => {
    const { recording_id: id, owner, started_at: started, duration_ms: ms, bytes, state, title } = recording;
    return [id, owner, started, formatSpan(ms), formatBytes(bytes), state, onOneLine(title ?? '-', MAX_CELL)];
  });
  const head = ['RECORDING', 'OWNER', 'STARTED', 'LENGTH', 'SIZE', 'STATE', 'TITLE'];
  const lines = table(head, rows, 'There are no recordings.');
  return truncated ? [...lines, 'There are more.'] : lines;
}

const record: Subcommand = {
  summary: 'work in a recorded session',
  description:
    'Opens a session with a shell at this terminal, and records it. Its end is that of the shell (`exit`, Ctrl-D), or ' +
    'Ctrl-]. Then the id of the recording is printed.',
  arguments: [['[file]', 'save the recording in this file too, which must not exist', { read: path }]],
  options: [
    ...DAEMON_OPTIONS,
    ['--title <text>', 'a name for people'],
    ['--cwd <directory>', 'where it starts; by default in the workspace of the daemon', { read: path }],
    ['--shell <shell>', 'bash, zsh, sh or fish, or the path of one'],
    SANDBOX_OPTION,
  ],
  examples: ['shell-adapter record', "shell-adapter record --title 'how to deploy' deploy.cast"],
  notes: `\
Text that the terminal does not echo, such as passwords, is recorded as ***. The policy may ask whether the shell may run.
The shell ends at the latest after adapter.command_max_lifetime.`,
  exitCodes:
    'that of the shell; 1 it could not be recorded or saved, 2 wrong usage, 126 the shell may not run, 130 left by Ctrl-].',
  load: async () => (await import('./record-session.js')).recordSession,
};

const MIN_SPEED = 0.01;
const MAX_SPEED = 1000;
/** A day. */
const MAX_IDLE_S = 86_400;

const replay: Subcommand = {
  summary: 'play a recording',
  description: 'Plays a recording of the daemon, or a file in the format asciicast v2, with its timing.',
  arguments: [['<id-or-file>', 'id of a recording, or a file']],
  options: [
    ...DAEMON_OPTIONS,
    ['--speed <factor>', 'how much faster', { read: number(MIN_SPEED, MAX_SPEED) }],
    ['--idle <seconds>', 'longest pause between two events', { read: number(0, MAX_IDLE_S) }],
  ],
  examples: ['shell-adapter replay recording_ID', 'shell-adapter replay deploy.cast --speed 4 --idle 1'],
  notes: `\
Keys: space pauses and goes on; the right and left arrows move by 5 seconds; n and p jump to the next and previous
command; q or Ctrl-C ends it.`,
  load: async () => (await import('./replay-recording.js')).replayRecording,
};

export const recordingSubcommands = { record, recordings, replay };

import type { AdapterClient, Answer } from '../../client/index.js';
import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import { withDaemon } from '../connect/with-daemon.js';
import { alignColumns } from '../console/columns.js';
import type { Context } from '../console/context.js';
import { UsageError } from '../console/failure.js';
import { formatSpan, onOneLine } from '../console/style.js';
import { askYes } from '../console/ask-yes.js';
import { createCommand, examples, type Subcommand } from '../options/subcommand.js';
import { downloadRecording } from './download.js';

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

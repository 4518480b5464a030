import type { Answer, RequestInput } from '../../client/index.js';
import { MAX_RESULT_CHARACTERS } from '../../core/protocol/bounds.js';
import type { DaemonOptions } from '../connect/daemon-address.js';
import { DAEMON_OPTIONS, requesting } from '../connect/requesting.js';
import { withDaemon } from '../connect/with-daemon.js';
import { type CommandLine, commandLineFor, type Context, type Output } from '../console/context.js';
import { EXIT, UsageError } from '../console/failure.js';
import {
  alignColumns,
  confirmationHint,
  formatBytes,
  formatSpan,
  onOneLine,
  paint,
  reasonLines,
  table,
} from '../console/style.js';
import { type Entry, JSON_OPTION, type JsonOption, printAnswer, type Subcommand } from '../console/subcommand.js';

/** Longest path on a line, and longest label in the table, in characters. */
const MAX_PATH = 4096;
const MAX_LABEL = 60;

const PATHS: Entry<'paths'> = [
  '[path...]',
  'only these, relative to the workspace, each with all that is in it',
  { field: 'paths' },
];

const checkpoint: Subcommand = {
  summary: 'save the workspace, or list what was saved',
  description:
    'Saves everything in the workspace of the daemon and prints the id of the checkpoint, for `diff` and `restore`. ' +
    'What .git directories hold is not in it.',
  arguments: [['[label]', 'a name for people']],
  options: [...DAEMON_OPTIONS, ['--list', 'save nothing; list the checkpoints, the oldest first'], JSON_OPTION],
  examples: ['id=$(shell-adapter checkpoint "before the upgrade")', 'shell-adapter checkpoint --list'],
  run: async (context, options: DaemonOptions & JsonOption & { readonly list?: boolean }, label?: string) => {
    if (options.list !== true) return saveWorkspace(context, label, options);
    if (label !== undefined) throw new UsageError('--list saves nothing, and takes no label');
    const answer = await withDaemon(options, context, (client) => client.request('list_checkpoints', {}));
    return printAnswer(context, options, answer, () => renderCheckpoints(answer, Date.now()));
  },
};

async function saveWorkspace(
  context: Context,
  label: string | undefined,
  options: DaemonOptions & JsonOption,
): Promise<void> {
  const saved = await withDaemon(options, context, (client) => client.request('checkpoint_workspace', { label }));
  // .git is always skipped, so it is not worth a line.
  const skipped = saved.skipped.filter(({ reason }) => reason !== 'git_directory');
  if (options.json !== true && skipped.length > 0) {
    await context.stderr.write(`shell-adapter: not saved:\n${describeSkipped(skipped)}\n`);
  }
  await printAnswer(context, options, saved, () => saved.checkpoint_id);
}

function renderCheckpoints({ checkpoints }: Answer<'list_checkpoints'>, now: number): string[] {
  const rows = checkpoints.map(({ checkpoint_id: id, kind, label, created_at: createdAt, files, bytes }) => {
    const age = formatSpan(now - Date.parse(createdAt));
    return [id, kind, age, String(files), formatBytes(bytes), onOneLine(label ?? '-', MAX_LABEL)];
  });
  const head = ['CHECKPOINT', 'KIND', 'AGE', 'FILES', 'SIZE', 'LABEL'];
  return table(head, rows, 'There is no checkpoint of the workspace.');
}

const diff = requesting('diff_workspace', {
  summary: 'list the changes of the workspace since a checkpoint',
  description: 'Lists the changes of the workspace of the daemon since a checkpoint.',
  arguments: [['[checkpoint]', 'its id; the newest unless given', { field: 'checkpoint_id' }], PATHS],
  options: [
    ...DAEMON_OPTIONS,
    ['--stat', 'count the lines that came and went', { conflicts: 'patch' }],
    ['-p, --patch', 'print a patch, for patch(1) or `git apply`'],
    ['--json', 'print JSON, as `diff_workspace` answers'],
  ],
  examples: ['shell-adapter diff', 'shell-adapter diff checkpoint_ID src --patch | less'],
  payload: wantedChanges,
  text: (answer, output) =>
    answer.patch === null ? renderChanges(output, answer) : Buffer.from(answer.patch, 'base64'),
  after: async ({ stderr }, { patch_truncated: isCut }, { json }) => {
    if (isCut && json !== true)
      await stderr.write('shell-adapter: the patch is too long and has a gap; name paths to get it in parts\n');
  },
});

function wantedChanges(
  _context: Context,
  { stat, patch, json }: JsonOption & { readonly stat?: boolean; readonly patch?: boolean },
): RequestInput<'diff_workspace'> {
  if (patch !== true) return { format: stat === true ? 'stat' : 'names' };
  // Binary and not truncated, so that the patch can be applied.
  const output = { max_size: MAX_RESULT_CHARACTERS, encoding: 'base64' } as const;
  return { format: 'patch', ...(json !== true && { output }) };
}

const COLOURS = {
  added: 'green',
  deleted: 'red',
  modified: 'yellow',
  type_changed: 'yellow',
  mode_changed: 'yellow',
} as const;

function renderChanges(stdout: Output, { changes, change_count: count }: Answer<'diff_workspace'>): string[] {
  const rows = changes.map(({ path, status, insertions, deletions }) => {
    const counts = insertions === undefined || deletions === undefined ? [] : [countsOf(insertions, deletions)];
    return [status.replace('_', ' '), ...counts, showPath(path)];
  });
  const lines = alignColumns(rows).map((line, index) => {
    const { status = 'modified' } = changes[index] ?? {};
    const { length } = status;
    return paint(stdout, COLOURS[status], line.slice(0, length)) + line.slice(length);
  });
  return [...lines, ...restOf(changes.length, count)];
}

const countsOf = (insertions: number | null, deletions: number | null): string =>
  insertions === null || deletions === null ? 'binary' : `+${insertions} -${deletions}`;

type Restored = Answer<'restore_workspace'>;

const isPending = ({ status }: Restored): boolean => status === 'confirmation_required';

const restore = requesting('restore_workspace', {
  summary: 'restore the workspace from a checkpoint',
  description:
    'Restores the workspace of the daemon, or paths of it, from a checkpoint: files added since are removed. ' +
    'The current state is saved first; the last line says how to undo the restore.',
  arguments: [['<checkpoint>', 'its id', { field: 'checkpoint_id' }], PATHS],
  options: [...DAEMON_OPTIONS, ['--json', 'print JSON, as `restore_workspace` answers']],
  examples: ['shell-adapter restore checkpoint_ID', 'shell-adapter restore checkpoint_ID src/main.c docs'],
  notes: `\
When it fails, nothing has changed. A .git directory is never touched. If other tokens have run commands in the
workspace since the checkpoint, and files would be removed or overwritten, the restore has to be confirmed first.`,
  exitCodes: '0 restored, 1 failed, 126 not confirmed yet.',
  text: () => [],
  after: async (context, answer, options) => {
    const commandLine = commandLineFor(context, options);
    if (isPending(answer)) context.exitWith(EXIT.execDenied);
    if (options.json === true) return;
    if (isPending(answer)) await context.stderr.write(howToConfirmRestore(commandLine, answer));
    else await printRestored(context, commandLine, answer);
  },
});

/** Prints what a restore has done: the list on stdout, what is not as it was on stderr. */
export async function printRestored(
  { stdout, stderr }: Context,
  commandLine: CommandLine,
  answer: Restored,
): Promise<void> {
  await stdout.write(renderRestored(commandLine, answer));
  if (answer.skipped.length > 0) {
    await stderr.write(`shell-adapter: not as it was:\n${describeSkipped(answer.skipped)}\n`);
  }
}

function renderRestored(commandLine: CommandLine, answer: Restored): string {
  const { restored, restored_count: back, removed, removed_count: gone, undo_checkpoint_id: undo } = answer;
  const lines = [
    ...restored.map((path) => `restored ${showPath(path)}`),
    ...restOf(restored.length, back),
    ...removed.map((path) => `removed  ${showPath(path)}`),
    ...restOf(removed.length, gone),
    `${back} restored, ${gone} removed; undo: ${commandLine(`restore ${undo ?? ''}`)}`,
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** Describes why a restore was not done yet, and how this client can confirm it. */
function howToConfirmRestore(
  commandLine: CommandLine,
  { confirmation_id: id, reasons = [], would_remove: removed = [] }: Restored,
): string {
  return [
    'shell-adapter: not restored: the restore has to be confirmed',
    ...reasonLines(reasons),
    ...removed.map((path) => `  would remove ${showPath(path)}`),
    confirmationHint(commandLine, id),
    '',
  ].join('\n');
}

/** Escapes an untrusted path for a line of output. */
const showPath = (path: string): string => onOneLine(path, MAX_PATH);

/** Describes the skipped files, one per line. */
const describeSkipped = (skipped: readonly { readonly path: string; readonly reason: string }[]): string =>
  skipped.map(({ path, reason }) => `  ${showPath(path)} (${reason.replaceAll('_', ' ')})`).join('\n');

/** The last line of a truncated list; none for a complete list. */
const restOf = (shown: number, count: number): string[] => (count > shown ? [`… and ${count - shown} more`] : []);

export const checkpointSubcommands = { checkpoint, diff, restore };

import type { Answer } from '../../client/index.js';
import type { CommandLine, Context } from '../console/context.js';
import { onOneLine } from '../console/style.js';

/** Longest path on a line, in characters. */
const MAX_PATH = 4096;

/** Escapes an untrusted path for a line of output. */
export const showPath = (path: string): string => onOneLine(path, MAX_PATH);

/** Describes the skipped files, one per line. */
export const describeSkipped = (skipped: readonly { readonly path: string; readonly reason: string }[]): string =>
  skipped.map(({ path, reason }) => `  ${showPath(path)} (${reason.replaceAll('_', ' ')})`).join('\n');

/** The last line of a truncated list; none for a complete list. */
export const restOf = (shown: number, count: number): string[] =>
  count > shown ? [`… and ${count - shown} more`] : [];

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const;

/** Formats a size for people: `512 B`, `3.4 MB`. */
export function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${UNITS[power] ?? 'B'}`;
}

type Restored = Answer<'restore_workspace'>;

/** Longest reason, in characters. */
const MAX_REASON = 200;

/** Prints what a restore has done: the list on stdout, what is not as it was on stderr. */
export async function printRestored(
  { stdout, stderr }: Pick<Context, 'stdout' | 'stderr'>,
  commandLine: CommandLine,
  answer: Restored,
): Promise<void> {
  await stdout.write(render(commandLine, answer));
  if (answer.skipped.length > 0) {
    await stderr.write(`shell-adapter: not as it was:\n${describeSkipped(answer.skipped)}\n`);
  }
}

function render(commandLine: CommandLine, answer: Restored): string {
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
export function howToConfirmRestore(
  commandLine: CommandLine,
  { confirmation_id: id = '', reasons = [], would_remove: removed = [] }: Restored,
): string {
  return [
    'shell-adapter: not restored: the restore has to be confirmed',
    ...reasons.map((reason) => `  ${onOneLine(reason, MAX_REASON)}`),
    ...removed.map((path) => `  would remove ${showPath(path)}`),
    `Confirm it: ${commandLine(`confirm ${id} --approve --justification '…'`)}`,
    '',
  ].join('\n');
}

import type { Answer } from '../../client/index.js';
import { onOneLine } from '../console/style.js';

/** Longest path on a line, in characters. */
const MAX_PATH = 4096;

/** Escapes an untrusted path for a line of output. */
export const showPath = (path: string): string => onOneLine(path, MAX_PATH);

/** Describes the skipped files, one per line. */
export const describeSkipped = (skipped: Answer<'checkpoint_workspace'>['skipped']): string =>
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

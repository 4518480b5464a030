import type { Answer } from '../../client/index.js';
import { onOneLine } from '../console/style.js';

/** Longest path on a line, in characters. */
const MAX_PATH = 4096;

/** A path of a stranger, for a line of output. */
export const showPath = (path: string): string => onOneLine(path, MAX_PATH);

/** What was left out, a line for each. */
export const describeSkipped = (skipped: Answer<'checkpoint_workspace'>['skipped']): string =>
  skipped.map(({ path, reason }) => `  ${showPath(path)} (${reason.replaceAll('_', ' ')})`).join('\n');

/** The line that ends a list of which not all is shown; none when all is. */
export const restOf = (shown: number, count: number): string[] =>
  count > shown ? [`… and ${count - shown} more`] : [];

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const;

/** A size for people: `512 B`, `3.4 MB`. */
export function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${UNITS[power] ?? 'B'}`;
}

import { formatBytes } from '../../format/size.js';

/** Largest recording that is played, in bytes: its text and events take many times as much memory. */
const MAX_PLAYED_BYTES = 96 * 1024 * 1024;

/** Why a recording of a size is not played in a page, and what can be done; undefined when it is. */
export function whyNotPlayed(id: string, bytes: number): string | undefined {
  if (bytes <= MAX_PLAYED_BYTES) return undefined;
  const limit = formatBytes(MAX_PLAYED_BYTES);
  return `It has ${formatBytes(bytes)}, and a page plays ${limit} at most. "shell-adapter replay ${id}" plays it in a terminal`;
}

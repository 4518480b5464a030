import type { Finding } from './judge.js';

/** The first look at a command, and the shortest pause between two, in milliseconds. */
export const SHORTEST_MS = 5;
/** The longest pause while a command with limits runs. */
const BUSY_MS = 100;
/** The longest pause while nothing can be exceeded soon: no limits, or only background processes. */
const CALM_MS = 1000;

/** What the next pause depends on. */
export interface Pace {
  /** The last pause; undefined before the first look. */
  readonly lastPauseMs: number | undefined;
  readonly before: readonly Finding[];
  readonly now: readonly Finding[];
  /** Whether a command runs, and not only what earlier ones have left. */
  readonly hasCommand: boolean;
}

/**
 * How long to wait before the next look, in milliseconds: pauses double from the beginning of a command on, and end
 * before a limit would be exceeded if things went on as they do.
 */
export function nextPauseMs({ lastPauseMs, before, now, hasCommand }: Pace): number {
  const longest = hasCommand && now.length > 0 ? BUSY_MS : CALM_MS;
  if (lastPauseMs === undefined) return SHORTEST_MS;
  const pauses = now.map((finding) => {
    const last = before.find(({ resource }) => resource === finding.resource);
    const growth = last ? finding.share - last.share : 0;
    // Half of the way: growth may itself be growing.
    return growth > 0 ? (lastPauseMs * (1 - finding.share)) / growth / 2 : Infinity;
  });
  return Math.round(Math.max(SHORTEST_MS, Math.min(longest, lastPauseMs * 2, ...pauses)));
}

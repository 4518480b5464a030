import { readFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A larger one is not the driver's, and would be read into the daemon's memory. */
const MAX_STATE_BYTES = 16 * 1024 * 1024;

/** Longest wait for a state that has been asked for, and the pause between two looks. */
const WAIT_MS = 500;
const PAUSE_MS = 1;

/** Files that a shell's state is saved under, in turn. */
const STATE_FILES = ['state.0', 'state.1'] as const;

/** A saved state that is whole. */
interface SavedState {
  readonly path: string;
  readonly text: string;
  /** Tells one version of a file from the next. */
  readonly stamp: string;
}

function readStates(directory: string): readonly SavedState[] {
  return STATE_FILES.flatMap((name) => {
    const path = join(directory, name);
    const stamp = stampOf(path);
    if (stamp === undefined || (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > MAX_STATE_BYTES) return [];
    const text = readFileSync(path, 'utf8');
    // The shell may be about to write it anew.
    return text.endsWith('#end\n') && stampOf(path) === stamp ? [{ path, text, stamp }] : [];
  });
}

function stampOf(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat && `${path} ${stat.mtimeNs} ${stat.ctimeNs} ${stat.size}`;
}

/** Path of the newest saved state that is whole. */
export function newestState(directory: string): string | undefined {
  return readStates(directory)
    .map(({ path }) => path)
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)[0];
}

/** What tells the states that are there, whole or not, from newer ones. */
export const stampsOfStates = (directory: string): readonly string[] =>
  STATE_FILES.flatMap((name) => stampOf(join(directory, name)) ?? []);

/** Text of a state that is whole and none of the known ones; undefined when there is none yet. */
export const stateBeyond = (directory: string, known: readonly string[]): string | undefined =>
  readStates(directory).findLast(({ stamp }) => !known.includes(stamp))?.text;

/**
 * Waits for a state that is none of the known ones, and gives its text. The shell writes it in a few milliseconds, and
 * tells nobody. Undefined when it does not come in half a second, or when `isOver`.
 */
export async function newState(
  directory: string,
  known: readonly string[],
  isOver: () => boolean,
): Promise<string | undefined> {
  const deadline = performance.now() + WAIT_MS;
  for (;;) {
    const saved = stateBeyond(directory, known);
    if (saved !== undefined) return saved;
    if (performance.now() > deadline || isOver()) return undefined;
    await sleep(PAUSE_MS);
  }
}

/** The terminal's modes whenever a driver has put them in order since the last call, as lines of `stty -g`. */
export function takeModes(directory: string): string {
  const path = join(directory, 'modes');
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0 || size > MAX_STATE_BYTES) return '';
  const text = readFileSync(path, 'latin1');
  // In its place: in a sandbox it is mounted by itself.
  truncateSync(path);
  return text;
}

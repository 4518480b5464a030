import { statSync, truncateSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Shell, StatePart } from '../shells/shell.js';
import { writeFileFor } from '../system/own-user.js';
import { readRegularFile } from '../system/local-files.js';
import type { ShellProcess } from './shell-process.js';

/** Largest accepted state: a larger file is not from the driver, and would be read into the daemon's memory. */
const MAX_STATE_BYTES = 16 * 1024 * 1024;

/**
 * Longest wait for a requested state, and the polling interval, both in milliseconds. Without the state the policy does not
 * know the session's aliases, so a slow machine must not get there.
 */
const WAIT_MS = 3000;
const PAUSE_MS = 1;

/** Files to which a shell's state is saved, alternately. */
const STATE_FILES = ['state.0', 'state.1'] as const;

/** A complete saved state. */
interface SavedState {
  readonly path: string;
  readonly text: string;
  /** Distinguishes versions of a file. */
  readonly stamp: string;
}

function readStates(directory: string): readonly SavedState[] {
  return STATE_FILES.flatMap((name) => {
    const path = join(directory, name);
    const stamp = stampOf(path);
    if (stamp === undefined) return [];
    const text = readState(path)?.toString('utf8') ?? '';
    // The shell may just be writing the file again.
    return text.endsWith('#end\n') && stampOf(path) === stamp ? [{ path, text, stamp }] : [];
  });
}

function stampOf(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat && `${path} ${stat.mtimeNs} ${stat.ctimeNs} ${stat.size}`;
}

/** Returns the content of a saved state; undefined for a file that is too large for one, or cannot be read. */
function readState(path: string): Buffer | undefined {
  const content = readRegularFile(path, MAX_STATE_BYTES + 1);
  return content && content.length > MAX_STATE_BYTES ? undefined : content;
}

/** Returns the path of the newest complete state. */
function newestState(directory: string): string | undefined {
  return readStates(directory)
    .map(({ path }) => path)
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)[0];
}

/**
 * A saved state as a new shell takes it, part by part. `variables` come first, with options for the text of functions;
 * `settings` would disturb the rest. Both are empty when there are none, or too much.
 */
export type StateParts = Readonly<Record<StatePart, Buffer>>;

/** Returns what a new shell tries to take of the newest complete state, in this order: all of it, and its main part. */
export function partsToTry(directory: string): readonly StateParts[] {
  const path = newestState(directory);
  const state = path === undefined ? undefined : readState(path);
  if (path === undefined || !state) return [];
  const part = (name: StatePart) => {
    const content = readState(join(directory, basename(path).replace('state', name)));
    return content?.subarray(-END.length).equals(END) ? content : NOTHING;
  };
  return [
    { state, variables: part('variables'), settings: part('settings') },
    { state, variables: NOTHING, settings: NOTHING },
  ];
}

/** The parts in the order in which a shell takes them. */
const PARTS: readonly StatePart[] = ['variables', 'state', 'settings'];

/**
 * Copies a state for a new shell: a sandboxed one sees only its own directory, and the original may have any mode.
 * @returns the command that takes it
 */
export function copyParts(
  parts: StateParts,
  { directory, owner }: Pick<ShellProcess, 'directory' | 'owner'>,
  shell: Shell,
): string {
  const names = PARTS.filter((name) => parts[name].length > 0);
  const commands = names.map((name) => {
    const copy = join(directory, `${name}.old`);
    writeFileFor(owner, copy, parts[name]);
    return shell.restore(copy, name);
  });
  return [...commands, shell.afterRestore].join('\n');
}

const NOTHING = Buffer.alloc(0);
const END = Buffer.from('#end\n');

/** Returns the stamps of all existing state files, complete or not, to distinguish them from newer ones. */
const stampsOfStates = (directory: string): readonly string[] =>
  STATE_FILES.flatMap((name) => stampOf(join(directory, name)) ?? []);

/** The start of a state that shows the values of variables; any start without variables. */
const startOfValues = (names: readonly string[]): string => (names.length === 0 ? '' : `#values ${names.join(' ')}\n`);

/**
 * Returns the text of a complete state that is not among the known ones; undefined when there is none yet.
 * @param start of the text that is wanted
 */
const stateBeyond = (directory: string, known: readonly string[], start = ''): string | undefined =>
  readStates(directory).findLast(({ stamp, text }) => !known.includes(stamp) && text.startsWith(start))?.text;

/**
 * Waits for a state that is not among the known ones, and returns its text. The shell writes it within a few
 * milliseconds, without a notification. Undefined after three seconds, or when `isOver`.
 */
async function newState(
  directory: string,
  known: readonly string[],
  isOver: () => boolean,
  start = '',
): Promise<string | undefined> {
  const deadline = performance.now() + WAIT_MS;
  for (;;) {
    const saved = stateBeyond(directory, known, start);
    if (saved !== undefined) return saved;
    if (performance.now() > deadline || isOver()) return undefined;
    await sleep(PAUSE_MS);
  }
}

/**
 * Returns the terminal's modes for each time that a driver has restored them since the last call, as lines of `stty
 * -g`.
 */
export function takeModes(directory: string): string {
  const path = join(directory, 'modes');
  const text = readState(path)?.toString('latin1') ?? '';
  if (text === '') return '';
  // Truncated in place: in a sandbox the file has its own mount.
  truncateSync(path);
  return text;
}

/** Has the shell of a session save its state after its commands, and reads what it has saved. */
export class StateSaver {
  readonly #session: { readonly shell: ShellProcess };
  #mustTidy = false;
  /** Whether commands have run since the last request to save the state. */
  #isUnsaved = true;
  /** Stamps of the state files that existed at the time of that request. */
  #before: readonly string[] = [];

  /** @param session has the shell, which can be replaced */
  constructor(session: { readonly shell: ShellProcess }) {
    this.#session = session;
  }

  /** Notes that the shell is another one. */
  noteReplaced(): void {
    this.#isUnsaved = true;
  }

  /** Notes the end of a command. A long-running one may have left the terminal's modes in disorder. */
  noteEnd(isLongRunning: boolean): void {
    this.#mustTidy ||= isLongRunning;
    this.#isUnsaved = true;
  }

  /** Requests a save of the shell's state, before anything else runs in the shell. */
  saveNow(): void {
    if (!this.#isUnsaved) return;
    this.#isUnsaved = false;
    const { shell } = this.#session;
    this.#before = stampsOfStates(shell.directory);
    shell.requests.askToSave(this.#mustTidy);
    this.#mustTidy = false;
  }

  /**
   * Reads the current state of an idle shell: exported variables, functions and aliases, as the shell prints them.
   * Undefined when the shell does not deliver it in time.
   * @param names variables whose values it shows at the start, where the shell can
   */
  async read(names: readonly string[]): Promise<string | undefined> {
    const { shell } = this.#session;
    const known = stampsOfStates(shell.directory);
    const isOver = () => shell !== this.#session.shell || shell.terminal.hasExited;
    // A save in progress is sufficient: nothing has run since it was requested.
    if (this.#isUnsaved) this.saveNow();
    else if (names.length === 0) shell.requests.askToSave(false);
    if (names.length > 0) shell.requests.askToSave(false, names);
    return newState(shell.directory, known, isOver, startOfValues(names));
  }

  /** The state as saved after the last command; undefined until the save is complete. */
  get saved(): string | undefined {
    return this.#isUnsaved ? undefined : stateBeyond(this.#session.shell.directory, this.#before);
  }
}

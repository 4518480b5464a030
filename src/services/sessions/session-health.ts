import { statfsSync, statSync } from 'node:fs';

import { checkHealth, type HealthWarning } from '../../core/health/checks.js';
import { CORE_TOOLS, type HealthFacts } from '../../core/health/facts.js';
import { disturbedModes } from '../../core/health/terminal-modes.js';
import { readSavedState, UNKNOWN_NAMES } from '../../core/policy/words/saved-state.js';
import { takeModes } from '../../engine/shell/shell-state.js';
import { findProgram } from '../../engine/shells/list.js';
import type { SessionRecord } from '../registry/session-registry.js';

/** Pause after a command before the session is looked at: its state is usually saved by then, and commands in a row cost nothing. */
const LOOK_AFTER_MS = 120;
/** Looks, each after that pause, before it is given up that a shell saves its state. */
const MAX_LOOKS = 50;

/** Linux has the same numbers for a terminal's modes on all processors but these. */
const HAS_USUAL_MODES = !['ppc', 'ppc64', 'mips', 'mipsel'].includes(process.arch);

/** What is known of one session's health. */
interface Health {
  readonly timer: NodeJS.Timeout;
  /** Since the last command. */
  looks: number;
  /** Messages that have been given, as long as they are true. */
  known: ReadonlySet<string>;
  /** For the next result. */
  pending: HealthWarning[];
  /** The shell that they are true of. */
  restarts: number;
}

/** What the checks go by. */
export interface SessionHealthOptions {
  /** What shells are started with. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Looks after sessions while nothing runs in them: whether commands have left them in a state in which others will fail.
 * Everything is told once: in the next result, and at once to those who follow the session.
 */
export class SessionHealth {
  readonly #startPath: string;
  readonly #tools: readonly string[];
  readonly #health = new WeakMap<SessionRecord, Health>();

  constructor({ env }: SessionHealthOptions) {
    this.#startPath = env['PATH'] ?? '';
    this.#tools = CORE_TOOLS.filter((name) => findProgram(name, this.#startPath) !== undefined);
  }

  /** Takes note that a command of the session has ended. */
  noteCommand(record: SessionRecord): void {
    const health = this.#health.get(record);
    if (health) {
      health.looks = 0;
      health.timer.refresh();
      return;
    }
    const timer = setTimeout(() => {
      this.#look(record);
    }, LOOK_AFTER_MS).unref();
    this.#health.set(record, { timer, looks: 0, known: new Set(), pending: [], restarts: record.session.restarts });
  }

  /** What the next result has to tell, once. */
  takeWarnings(record: SessionRecord): readonly HealthWarning[] {
    const health = this.#health.get(record);
    if (!health) return [];
    forgetOldShell(health, record);
    return health.pending.splice(0);
  }

  #look(record: SessionRecord): void {
    const health = this.#health.get(record);
    if (!health) return;
    const facts = this.#factsOf(record);
    if (!facts) {
      health.looks += 1;
      if (record.session.isIdle && health.looks < MAX_LOOKS) health.timer.refresh();
      return;
    }
    forgetOldShell(health, record);
    const warnings = checkHealth(facts);
    const fresh = warnings.filter(({ message }) => !health.known.has(message));
    health.known = new Set(warnings.map(({ message }) => message));
    // What is not true any more need not be told.
    health.pending = [...health.pending.filter(({ message }) => health.known.has(message)), ...fresh];
    if (fresh.length > 0) record.channel.announce('health_warning', { session_id: record.id, warnings: fresh });
  }

  /** Undefined while the session is busy, after which it will be looked at, and until its shell has saved its state. */
  #factsOf({ session }: SessionRecord): HealthFacts | undefined {
    const state = session.savedState();
    if (state === undefined) return undefined;
    const { name } = session.options.installed.shell;
    const shell = name === 'zsh' || name === 'sh' ? name : 'bash';
    const names = readSavedState(state, shell);
    // One that is too long says nothing of PATH.
    const isKnown = names !== UNKNOWN_NAMES;
    const { aliases, functions: listed, variables } = names;
    const functions = shell === 'sh' ? functionsAmongTypes(state) : listed;
    const path = variables.get('PATH') ?? '';
    const { workingDirectory } = session;
    return {
      shell,
      workingDirectory,
      isDirectoryThere: isDirectory(session.see(workingDirectory)),
      aliases,
      functions,
      options: /^#options (\S*)$/mu.exec(state)?.[1] ?? '',
      missingTools: !isKnown || path === this.#startPath ? [] : this.#tools.filter((tool) => !findProgram(tool, path)),
      environmentBytes: isKnown ? sizeOf(variables) : lengthOfExports(state),
      leftModes: HAS_USUAL_MODES ? disturbedModes(takeModes(session.shell.directory)) : [],
      leftProcesses: session.backgroundProcesses.length,
      disk: roomAt(session.see(workingDirectory)),
    };
  }
}

/** A POSIX shell cannot list its functions: driver.sh has it say what the names are that matter. Their bodies are unknown. */
function functionsAmongTypes(state: string): ReadonlyMap<string, string> {
  const types = state.slice(0, Math.max(0, state.indexOf('\n#types\n')));
  return new Map([...types.matchAll(/^(\S+) is a (?:shell )?function$/gmu)].map(([, name = '']) => [name, '']));
}

/** With a new shell everything begins anew. */
function forgetOldShell(health: Health, { session }: SessionRecord): void {
  if (health.restarts === session.restarts) return;
  health.restarts = session.restarts;
  health.known = new Set();
  health.pending = [];
}

function sizeOf(variables: ReadonlyMap<string, string>): number {
  let bytes = 0;
  for (const [name, value] of variables) bytes += Buffer.byteLength(name) + Buffer.byteLength(value) + 2;
  return bytes;
}

/** What a state begins with that is too long to be read: functions come after what is exported. */
function lengthOfExports(state: string): number {
  const end = state.search(/^\S+ \(\)/mu);
  return end === -1 ? state.length : end;
}

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

function roomAt(path: string): HealthFacts['disk'] {
  try {
    const { bavail, blocks, bsize } = statfsSync(path);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch {
    // The directory is gone, which another check says.
    return undefined;
  }
}

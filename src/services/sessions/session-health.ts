import { checkHealth, CORE_TOOLS, disturbedModes, type HealthFacts, type HealthWarning } from '../../core/health.js';
import { readSavedState, UNKNOWN_NAMES } from '../../core/policy/words/saved-state.js';
import type { SessionInfo } from '../../core/protocol/results.js';
import { diskSpaceOf } from '../../engine/platform/machine.js';
import { isDirectory } from '../../engine/system/local-files.js';
import { takeModes } from '../../engine/shell/shell-state.js';
import type { Session } from '../../engine/session/session.js';
import { findProgram } from '../../engine/shells/list.js';
import type { Notifications } from '../notifications.js';
import type { SessionRecord } from '../registry/session-registry.js';

/** Linux uses the same numbers for terminal modes on all architectures except these. */
const HAS_USUAL_MODES = !['ppc', 'ppc64', 'mips', 'mipsel'].includes(process.arch);

/** A warning that is true now, in wire format. */
export type StandingWarning = SessionInfo['warnings'][number];

/** No warnings, always the same. */
const NONE: readonly StandingWarning[] = [];

/** Health state of one session. */
interface Health {
  /** The warnings that are true, all of them reported; another array when one has changed. */
  standing: readonly StandingWarning[];
  /** Warnings for the next result. */
  pending: HealthWarning[];
  /** Restart count of the shell that the state belongs to. */
  restarts: number;
}

/**
 * Checks idle sessions for states in which later commands will fail. Every warning is reported once: in the next
 * result, and immediately to clients that follow the session.
 */
export class SessionHealth {
  readonly #notifier: Notifications;
  readonly #startPath: string;
  readonly #tools: readonly string[];
  readonly #health = new WeakMap<SessionRecord, Health>();

  constructor(env: Readonly<Record<string, string>>, notifier: Notifications) {
    this.#notifier = notifier;
    this.#startPath = env['PATH'] ?? '';
    this.#tools = CORE_TOOLS.filter((name) => findProgram(name, this.#startPath) !== undefined);
  }

  /** Returns the warnings for the next result, once. */
  takeWarnings(record: SessionRecord): readonly HealthWarning[] {
    const health = this.#health.get(record);
    if (!health) return [];
    forgetOldShell(health, record);
    return health.pending.splice(0);
  }

  /** The warnings that are true as of the last check. The same array is returned until one has changed. */
  warningsOf(record: SessionRecord): readonly StandingWarning[] {
    const health = this.#health.get(record);
    if (!health) return NONE;
    forgetOldShell(health, record);
    return health.standing;
  }

  /** Checks a session that has rested; returns false where its shell has not saved its state yet. */
  check(record: SessionRecord): boolean {
    const facts = this.#factsOf(record);
    if (!facts) return false;
    const { restarts } = record.session;
    const health = this.#health.get(record) ?? { standing: NONE, pending: [], restarts };
    this.#health.set(record, health);
    forgetOldShell(health, record);
    const warnings = checkHealth(facts);
    const fresh = updateStanding(health, warnings);
    // Warnings that are no longer true are dropped.
    health.pending = [...health.pending.filter((warning) => findSame(health.standing, warning)), ...fresh];
    if (fresh.length === 0) return true;
    record.channel.announce('health_warning', { session_id: record.id, warnings: fresh });
    this.#notifier.notify({
      event: 'health',
      message: `a session of ${record.owner.name} is not healthy: ${fresh.map(({ code }) => code).join(', ')}`,
      sessionId: record.id,
      details: { warnings: fresh },
    });
    return true;
  }

  /**
   * Undefined while the session is busy (its next check follows the command), and until its shell has saved its state.
   */
  #factsOf({ session }: SessionRecord): HealthFacts | undefined {
    const state = session.savedState();
    if (state === undefined) return undefined;
    const shell = shellOf(session);
    const names = readSavedState(state, shell);
    // A saved state that is too long to be parsed does not contain PATH.
    const isKnown = names !== UNKNOWN_NAMES;
    const { aliases, functions: listed, variables } = names;
    const functions = shell === 'sh' ? functionsAmongTypes(state) : listed;
    const { workingDirectory } = session;
    // With the daemon's rights, it would tell a user of its own about places that this user cannot see.
    const isOwn = session.shell.owner === undefined;
    return {
      shell,
      workingDirectory,
      isDirectoryThere: !isOwn || isDirectory(session.see(workingDirectory)),
      aliases,
      functions,
      options: savedOptions(state),
      missingTools: isKnown && isOwn ? this.#missingIn(variables.get('PATH') ?? '') : [],
      environmentBytes: isKnown ? sizeOf(variables) : lengthOfExports(state),
      leftModes: HAS_USUAL_MODES ? disturbedModes(takeModes(session.shell.directory)) : [],
      leftProcesses: session.backgroundProcesses.length,
      disk: isOwn ? diskSpaceOf(session.see(workingDirectory)) : undefined,
    };
  }

  /** Returns the tools that are on the PATH of a fresh shell, and missing on this one. */
  #missingIn(path: string): readonly string[] {
    return path === this.#startPath ? [] : this.#tools.filter((tool) => !findProgram(tool, path));
  }
}

/** Any shell other than zsh, sh, fish and pwsh saves its state as bash does. */
function shellOf({ options: { installed } }: Session): HealthFacts['shell'] {
  const { name } = installed.shell;
  return name === 'zsh' || name === 'sh' || name === 'fish' || name === 'pwsh' ? name : 'bash';
}

const savedOptions = (state: string): string => /^#options (\S*)$/mu.exec(state)?.[1] ?? '';

/**
 * A POSIX shell cannot list its functions: driver.sh saves the types of the relevant names, indented. Function
 * bodies are unknown.
 */
function functionsAmongTypes(state: string): ReadonlyMap<string, string> {
  const types = state.slice(0, Math.max(0, state.indexOf('\n#types\n')));
  return new Map([...types.matchAll(/^ (\S+) is a (?:shell )?function$/gmu)].map(([, name = '']) => [name, '']));
}

const findSame = (warnings: readonly StandingWarning[], { message }: HealthWarning): StandingWarning | undefined =>
  warnings.find((warning) => warning.message === message);

/** Replaces the warnings that are true; returns the new ones among them. */
function updateStanding(health: Health, warnings: readonly HealthWarning[]): HealthWarning[] {
  const { standing } = health;
  const fresh = warnings.filter((warning) => !findSame(standing, warning));
  if (fresh.length === 0 && warnings.length === standing.length) return [];
  const since = new Date().toISOString();
  health.standing = warnings.map((warning) => findSame(standing, warning) ?? { ...warning, since });
  return fresh;
}

/** A new shell resets the health state. */
function forgetOldShell(health: Health, { session }: SessionRecord): void {
  if (health.restarts === session.restarts) return;
  health.restarts = session.restarts;
  health.standing = NONE;
  health.pending = [];
}

function sizeOf(variables: ReadonlyMap<string, string>): number {
  let bytes = 0;
  for (const [name, value] of variables) bytes += Buffer.byteLength(name) + Buffer.byteLength(value) + 2;
  return bytes;
}

/** Length of the exports at the start of a state that is too long to be parsed: functions follow them. */
function lengthOfExports(state: string): number {
  const end = state.search(/^\S+ \(\)/mu);
  return end === -1 ? state.length : end;
}

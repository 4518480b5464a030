import { resolve } from 'node:path';

import type { Principal } from '../../core/principal.js';
import {
  type Directory,
  factsOfFreshShell,
  NO_TYPING,
  type PolicyFacts,
  type TypingFacts,
} from '../../core/policy/model.js';
import { readSavedState, type ShellNames, UNKNOWN_NAMES } from '../../core/policy/words/saved-state.js';
import type { SessionRecord } from '../registry/session-registry.js';
import type { Executions } from '../executions.js';

/** Files and directories of the adapter itself. */
type OwnPaths = Pick<PolicyFacts, 'protectedPaths' | 'secretPaths'>;

/** Where a command would run, and for whom. */
export interface CommandSurroundings {
  readonly session: SessionRecord | undefined;
  readonly principal: Principal;
  /**
   * Whether input can be typed while the command runs.
   * @default it cannot
   */
  readonly typing?: TypingFacts;
}

/** The names of a session's shell at one moment. */
interface KnownNames {
  readonly names: ShellNames;
  /** Restart count of the shell that had them. */
  readonly restarts: number;
}

/** The facts of a session that were gathered last, and what they were made of. */
interface LastFacts {
  readonly facts: PolicyFacts;
  readonly names: ShellNames;
  readonly own: OwnPaths;
}

const NO_NAMES: ShellNames = { ...UNKNOWN_NAMES, isIncomplete: false };

const shellOf = (name: string): PolicyFacts['shell'] =>
  name === 'zsh' || name === 'sh' || name === 'fish' || name === 'pwsh' ? name : 'bash';

/**
 * Gathers the policy's facts about the place in which a command would run. A session's aliases, functions and PATH are
 * read from its shell, and cached until a command passes that may change them: most commands cost nothing here.
 */
export class SessionFacts {
  readonly #executions: Executions;
  readonly #ownPaths: () => OwnPaths;
  readonly #known = new WeakMap<SessionRecord, KnownNames>();
  readonly #last = new WeakMap<SessionRecord, LastFacts>();
  /** Change counters of sessions: an answer from before the latest change is discarded. */
  readonly #changes = new WeakMap<SessionRecord, number>();

  constructor(executions: Executions, ownPaths: () => OwnPaths) {
    this.#executions = executions;
    this.#ownPaths = ownPaths;
  }

  /**
   * Returns the facts for a command.
   * @param cwd directory for this command alone
   * @param isFresh true to read the names from the shell again
   */
  of(
    { session, principal, typing = NO_TYPING }: CommandSurroundings,
    cwd: string | undefined,
    isFresh: boolean,
  ): PolicyFacts | Promise<PolicyFacts> {
    if (!session) return this.#factsWithoutSession(principal, cwd, typing);
    const known = this.#known.get(session);
    const isValid = known !== undefined && known.restarts === session.session.restarts;
    if (isValid && !isFresh) return this.#sameFactsOf(session, known.names, cwd, typing);
    if (isBusy(session)) return this.#factsOf(session, UNKNOWN_NAMES, cwd, typing);
    return this.#ask(session).then((names) => this.#factsOf(session, names, cwd, typing));
  }

  /** Returns the facts for text typed into a running command, whose effects on the session are not known. */
  whileRunning(session: SessionRecord): PolicyFacts {
    return { ...this.#factsOf(session, UNKNOWN_NAMES, undefined), directories: [undefined] };
  }

  /** Returns the facts for a request about files, which no name of the session's shell can change. */
  forFiles(session: SessionRecord | undefined, principal: Principal): PolicyFacts {
    if (!session) return this.#factsWithoutSession(principal, undefined);
    const facts = this.#factsOf(session, NO_NAMES, undefined);
    return { ...facts, directories: [session.session.workingDirectory], isPathChanged: false };
  }

  /** Drops cached names when a command passes that may change them. */
  forget(session: SessionRecord): void {
    this.#known.delete(session);
    this.#changes.set(session, this.#changesOf(session) + 1);
  }

  async #ask(session: SessionRecord): Promise<ShellNames> {
    const { restarts } = session.session;
    const changes = this.#changesOf(session);
    const state = await session.session.readState();
    if (state === undefined || changes !== this.#changesOf(session)) return UNKNOWN_NAMES;
    const names = readSavedState(state, shellOf(session.shellName));
    this.#known.set(session, { names, restarts });
    return names;
  }

  #changesOf(session: SessionRecord): number {
    return this.#changes.get(session) ?? 0;
  }

  #factsWithoutSession(principal: Principal, cwd: string | undefined, typing = NO_TYPING): PolicyFacts {
    const { cwd: workspace, env } = this.#executions.of(principal).pool;
    return factsOfFreshShell(workspace, {
      shell: shellOf(this.#executions.own.pool.defaultShell.shell.name),
      isOneShot: true,
      directories: [cwd === undefined ? workspace : resolve(workspace, cwd)],
      home: env['HOME'],
      ownProcesses: new Set(),
      typing,
      ...this.#ownPaths(),
    });
  }

  /** Returns the last facts again while they hold, so that what was derived from them holds too. */
  #sameFactsOf(record: SessionRecord, names: ShellNames, cwd: string | undefined, typing = NO_TYPING): PolicyFacts {
    const last = this.#last.get(record);
    const own = this.#ownPaths();
    const isSame = last?.names === names && last.own === own && last.facts.typing === typing;
    if (isSame && last.facts.directories[0] === directoryIn(record, cwd) && !hasProcesses(record, last.facts))
      return last.facts;
    const facts = this.#factsOf(record, names, cwd, typing);
    this.#last.set(record, { facts, names, own });
    return facts;
  }

  #factsOf(record: SessionRecord, names: ShellNames, cwd: string | undefined, typing = NO_TYPING): PolicyFacts {
    const { session } = record;
    const { cwd: workspace, env } = session.options.pool;
    return factsOfFreshShell(workspace, {
      shell: shellOf(record.shellName),
      directories: [directoryIn(record, cwd)],
      home: names.variables.get('HOME') ?? session.options.env['HOME'] ?? env['HOME'],
      ...this.#ownPaths(),
      aliases: names.aliases,
      functions: names.functions,
      isPathChanged: names.variables.get('PATH') !== env['PATH'],
      areNamesUnknown: names.isIncomplete,
      typing,
      // In a sandbox there are no others.
      ownProcesses: record.sandbox === 'none' ? new Set(session.backgroundProcesses.map(({ pid }) => pid)) : undefined,
    });
  }
}

/** The directory in which a command of a session would run. That of a busy session at the start of the command is not known. */
function directoryIn(record: SessionRecord, cwd: string | undefined): Directory {
  const { workingDirectory } = record.session;
  if (cwd !== undefined) return resolve(workingDirectory, cwd);
  return isBusy(record) ? undefined : workingDirectory;
}

/** Whether a session has left processes running, now or when the facts were gathered. */
const hasProcesses = ({ session }: SessionRecord, { ownProcesses }: PolicyFacts): boolean =>
  (ownProcesses?.size ?? 0) > 0 || session.backgroundProcesses.length > 0;

/** Whether a session runs a command, or has some waiting. */
export const isBusy = ({ session }: SessionRecord): boolean =>
  session.running !== undefined || session.queued.length > 0;

/** Possible typed input of a command: sessions have a terminal, one-shots only on request. */
export function typingIn(session: SessionRecord | undefined, tty = false): TypingFacts {
  if (tty) return SCREEN;
  return session ? INPUT_ALONE : NO_TYPING;
}

const SCREEN: TypingFacts = { input: true, screen: true };
const INPUT_ALONE: TypingFacts = { input: true, screen: false };

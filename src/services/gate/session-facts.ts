import { resolve } from 'node:path';

import type { Principal } from '../../core/access/principal.js';
import { type Directory, factsOfFreshShell, type PolicyFacts } from '../../core/policy/model/facts.js';
import { readSavedState } from '../../core/policy/words/saved-state.js';
import { type ShellNames, UNKNOWN_NAMES } from '../../core/policy/words/shell-names.js';
import type { SessionRecord } from '../registry/session-registry.js';
import type { Executions } from '../users/executions.js';

/** Dependencies of `SessionFacts`. */
export interface SessionFactsOptions {
  readonly executions: Pick<Executions, 'of'>;
  /** Name of the shell for commands without a session. */
  readonly shell: string;
  /** Files and directories of the adapter itself. */
  readonly ownPaths: () => Pick<PolicyFacts, 'protectedPaths' | 'secretPaths'>;
}

/** The names of a session's shell at one moment. */
interface KnownNames {
  readonly names: ShellNames;
  /** Restart count of the shell that had them. */
  readonly restarts: number;
}

const NO_NAMES: ShellNames = { ...UNKNOWN_NAMES, isIncomplete: false };

const shellOf = (name: string): PolicyFacts['shell'] =>
  name === 'zsh' || name === 'sh' || name === 'fish' || name === 'pwsh' ? name : 'bash';

/**
 * Gathers the policy's facts about the place in which a command would run. A session's aliases, functions and PATH are
 * read from its shell, and cached until a command passes that may change them: most commands cost nothing here.
 */
export class SessionFacts {
  readonly #options: SessionFactsOptions;
  readonly #known = new WeakMap<SessionRecord, KnownNames>();
  /** Change counters of sessions: an answer from before the latest change is discarded. */
  readonly #changes = new WeakMap<SessionRecord, number>();

  constructor(options: SessionFactsOptions) {
    this.#options = options;
  }

  /**
   * Returns the facts for a command.
   * @param cwd directory for this command alone
   * @param isFresh true to read the names from the shell again
   */
  of(
    { session, principal }: { readonly session: SessionRecord | undefined; readonly principal: Principal },
    cwd: string | undefined,
    isFresh: boolean,
  ): PolicyFacts | Promise<PolicyFacts> {
    if (!session) return this.#factsWithoutSession(principal, cwd);
    const known = this.#known.get(session);
    const isValid = known !== undefined && known.restarts === session.session.restarts;
    if (isValid && !isFresh) return this.#factsOf(session, known.names, cwd);
    if (isBusy(session)) return this.#factsOf(session, UNKNOWN_NAMES, cwd);
    return this.#ask(session).then((names) => this.#factsOf(session, names, cwd));
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

  #factsWithoutSession(principal: Principal, cwd: string | undefined): PolicyFacts {
    const { executions, shell, ownPaths } = this.#options;
    const { cwd: workspace, env } = executions.of(principal).pool;
    return factsOfFreshShell(workspace, {
      shell: shellOf(shell),
      isOneShot: true,
      directories: [cwd === undefined ? workspace : resolve(workspace, cwd)],
      home: env['HOME'],
      ownProcesses: new Set(),
      ...ownPaths(),
    });
  }

  #factsOf(record: SessionRecord, names: ShellNames, cwd: string | undefined): PolicyFacts {
    const { ownPaths } = this.#options;
    const { session } = record;
    const { cwd: workspace, env } = session.options.pool;
    // The directory of a busy session at the start of the command is not known.
    const directory: Directory = isBusy(record) ? undefined : session.workingDirectory;
    return factsOfFreshShell(workspace, {
      shell: shellOf(record.shellName),
      directories: [cwd === undefined ? directory : resolve(session.workingDirectory, cwd)],
      home: names.variables.get('HOME') ?? session.options.env['HOME'] ?? env['HOME'],
      ...ownPaths(),
      aliases: names.aliases,
      functions: names.functions,
      isPathChanged: names.variables.get('PATH') !== env['PATH'],
      areNamesUnknown: names.isIncomplete,
      // In a sandbox there are no others.
      ownProcesses: record.sandbox === 'none' ? new Set(session.backgroundProcesses.map(({ pid }) => pid)) : undefined,
    });
  }
}

/** Whether a session runs a command, or has some waiting. */
export const isBusy = ({ session }: SessionRecord): boolean =>
  session.running !== undefined || session.queued.length > 0;

import { resolve } from 'node:path';

import { AdapterError } from '../core/errors.js';
import type { Answer, Request, SessionRequest } from '../core/protocol/requests.js';
import type { CommandResult } from '../core/protocol/results.js';
import { type Startup, startupText } from '../core/startup-text.js';
import { statOf } from '../engine/system/local-files.js';
import type { Commands } from './commands/commands.js';
import type { Executions } from './executions.js';
import type { StartupGate } from './gate/startup-gate.js';
import type { Caller } from './registry/caller.js';
import type { SessionRecord } from './registry/session-registry.js';
import type { Sessions } from './sessions/sessions.js';

/** Time for startup files without an environment, in milliseconds. */
const TIMEOUT_MS = 30_000;

interface NamedEnvironment {
  readonly init: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** A session that was opened, with the result of its startup. */
interface StartedSession {
  readonly record: SessionRecord;
  /** Undefined where nothing was to be run. */
  readonly startup: CommandResult | undefined;
}

/** Opens sessions for clients, and runs the startup that they ask for: files, and the `init` of an environment. */
export class SessionStartup {
  readonly #sessions: Sessions;
  readonly #commands: Commands;
  readonly #gate: StartupGate;
  readonly #executions: Executions;
  readonly #environments: () => Readonly<Record<string, NamedEnvironment>>;
  readonly #startups = new WeakMap<SessionRecord, Startup & { readonly timeoutMs: number }>();

  constructor(
    sessions: Sessions,
    commands: Commands,
    gate: StartupGate,
    executions: Executions,
    environments: () => Readonly<Record<string, NamedEnvironment>>,
  ) {
    this.#sessions = sessions;
    this.#commands = commands;
    this.#gate = gate;
    this.#executions = executions;
    this.#environments = environments;
  }

  /**
   * Opens a session, and answers when its startup has ended. A startup that fails leaves the session open.
   * @throws AdapterError INVALID_REQUEST for an unknown environment or a file that is not there, COMMAND_DENIED, and
   *   what the opening of a session throws
   */
  async open(request: SessionRequest, caller: Caller): Promise<StartedSession> {
    const environment = this.#environmentOf(request.environment);
    const { timeoutMs = TIMEOUT_MS, init, env } = environment ?? {};
    const startup = { login: request.login ?? false, rcfile: this.#fileOf(request, caller), init };
    await this.#gate.admit(startup, caller.principal, request.cwd);
    const record = await this.#sessions.open(request, caller, env);
    this.#startups.set(record, { ...startup, timeoutMs });
    return { record, startup: await this.#run(record, caller) };
  }

  /** Gives a session a fresh shell, in which its startup is run again. */
  async reset(request: Request<'reset_session'>, caller: Caller): Promise<Answer<'reset_session'>> {
    const answer = await this.#sessions.reset(request, caller.principal);
    const record = this.#sessions.registry.get(request.session_id, caller.principal, 'stop');
    const startup = await this.#run(record, caller);
    return { ...answer, working_directory: record.session.workingDirectory, startup };
  }

  async #run(record: SessionRecord, caller: Caller): Promise<CommandResult | undefined> {
    const startup = this.#startups.get(record);
    const command = startup && startupText(record.shellName, startup);
    if (command === undefined) return undefined;
    const request = { command, session_id: record.id, timeout_ms: startup?.timeoutMs };
    return this.#commands.start(request, {
      caller,
      owner: record.owner,
      session: record,
      commandClass: 'execute',
    });
  }

  #environmentOf(name: string | undefined): NamedEnvironment | undefined {
    if (name === undefined) return undefined;
    const known = this.#environments();
    if (Object.hasOwn(known, name)) return known[name];
    const names = Object.keys(known).join(', ') || 'none';
    const message = `environment: the configuration has no environment ${name}; there are: ${names}`;
    throw new AdapterError('INVALID_REQUEST', message, { details: { field: 'environment' } });
  }

  /** The path of the file that is to be read: absolute, or below `~/`. */
  #fileOf({ rcfile, cwd, env }: SessionRequest, { principal }: Caller): string | undefined {
    if (rcfile === undefined) return undefined;
    const { pool, launch } = this.#executions.of(principal);
    const home = env?.['HOME'] ?? pool.env['HOME'] ?? '';
    const path = rcfile.startsWith('~/')
      ? resolve(home, rcfile.slice('~/'.length))
      : resolve(pool.cwd, cwd ?? '', rcfile);
    // Of another user, the daemon may see files that the user does not, and the other way round.
    if (!launch && !isFile(path)) {
      const message = `rcfile: there is no file ${path}`;
      throw new AdapterError('INVALID_REQUEST', message, { details: { field: 'rcfile', path } });
    }
    return rcfile.startsWith('~/') ? rcfile : path;
  }
}

const isFile = (path: string): boolean => statOf(path)?.isFile() === true;

import { accessSync, constants, statSync } from 'node:fs';
import { resolve } from 'node:path';

import type { Principal } from '../core/principal.js';
import { AdapterError } from '../core/errors.js';
import type { RunJob } from '../engine/checkpoints/job.js';
import type { OneShotRunner } from '../engine/one-shot/one-shot.js';
import type { StdinPipes } from '../engine/output/stdin-pipe.js';
import type { ShellPool } from '../engine/shell/shell-pool.js';
import { findShell, type InstalledShell, installedShells } from '../engine/shells/list.js';
import type { User } from '../engine/system/find-user.js';
import type { UserLaunch } from '../engine/sandbox/user-launch.js';

/** Time for which a user counts as existing after it was looked up, in milliseconds: a look-up takes a process. */
const KNOWN_MS = 2000;

/** Everything that starts processes of one user. */
export interface Execution {
  /** Starts sessions; its directory is the workspace. */
  readonly pool: ShellPool;
  readonly oneShots: OneShotRunner;
  readonly stdinPipes: StdinPipes;
  readonly runJob: RunJob;
  /** Starts programs as another user; undefined for the daemon's own. */
  readonly launch?: UserLaunch | undefined;
}

/** The same for a user of its own. */
export interface UserExecution extends Execution, AsyncDisposable {
  readonly launch: UserLaunch;
}

/** The execution of one user, and when that user was looked up. */
interface Entry {
  readonly user: User;
  readonly execution: UserExecution;
  /** On the monotonic clock, in milliseconds. */
  readonly seenAt: number;
}

/** Keeps apart what the tokens of different users run. */
export class Executions implements AsyncDisposable {
  /** For tokens without a user of their own, and for clients without a token. */
  readonly own: Execution;
  /** Whether the daemon can start processes of other users. */
  readonly #isRoot: boolean;
  readonly #find: (name: string) => Promise<User | undefined>;
  readonly #build: (user: User) => Promise<UserExecution>;
  /** Users that exist, by name. */
  readonly #entries = new Map<string, Entry>();
  /** The newest of each name: it is used again for a user that could not be looked up in between. */
  readonly #built = new Map<string, Omit<Entry, 'seenAt'>>();
  readonly #preparing = new Map<string, Promise<void>>();
  /** All that were ever built: a user that was removed and made again has another one. */
  readonly #all: UserExecution[] = [];

  /**
   * @param find looks a user up; undefined when there is no such user
   * @param build makes what starts processes of a user; throws an error with the reason why that is not possible
   */
  constructor(
    own: Execution,
    isRoot: boolean,
    find: (name: string) => Promise<User | undefined>,
    build: (user: User) => Promise<UserExecution>,
  ) {
    this.own = own;
    this.#isRoot = isRoot;
    this.#find = find;
    this.#build = build;
  }

  /**
   * Returns what runs the processes of a principal.
   * @throws AdapterError USER_UNAVAILABLE for a user that was not prepared
   */
  of({ runAs }: Principal): Execution {
    if (runAs === undefined) return this.own;
    const entry = this.#entries.get(runAs);
    if (!entry) throw unavailable(runAs, 'nothing was prepared for that user');
    return entry.execution;
  }

  /**
   * Looks a user up, and prepares what runs its processes. To be called before each request of its tokens.
   * @throws AdapterError USER_UNAVAILABLE
   */
  async prepare(name: string): Promise<void> {
    const entry = this.#entries.get(name);
    if (entry && performance.now() - entry.seenAt < KNOWN_MS) return;
    let preparing = this.#preparing.get(name);
    if (!preparing) {
      preparing = this.#prepare(name).finally(() => this.#preparing.delete(name));
      this.#preparing.set(name, preparing);
    }
    await preparing;
  }

  /** Number of one-shots in flight, of all users. */
  get running(): number {
    return [this.own, ...this.#all].reduce((sum, { oneShots }) => sum + oneShots.running, 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#preparing.values());
    await Promise.all(this.#all.map((execution) => execution[Symbol.asyncDispose]()));
  }

  async #prepare(name: string): Promise<void> {
    try {
      const user = await this.#userNamed(name);
      const execution = await this.#executionOf(user);
      this.#entries.set(name, { user, execution, seenAt: performance.now() });
    } catch (error) {
      this.#entries.delete(name);
      throw error instanceof AdapterError ? error : unavailable(name, (error as Error).message, error);
    }
  }

  async #executionOf(user: User): Promise<UserExecution> {
    const known = this.#built.get(user.name);
    if (known && isSame(known.user, user)) return known.execution;
    const execution = await this.#build(user);
    this.#built.set(user.name, { user, execution });
    this.#all.push(execution);
    return execution;
  }

  async #userNamed(name: string): Promise<User> {
    if (!this.#isRoot) throw unavailable(name, 'the daemon is not root, and only root can start processes of others');
    const user = await this.#find(name);
    if (!user) throw unavailable(name, 'this machine has no such user any more');
    if (user.uid === 0) throw unavailable(name, 'it is root, as is the daemon: a token without run_as runs as root');
    return user;
  }
}

const isSame = (a: User, b: User): boolean =>
  a.uid === b.uid && a.gid === b.gid && a.home === b.home && a.shell === b.shell;

const unavailable = (name: string, why: string, cause?: unknown): AdapterError =>
  new AdapterError('USER_UNAVAILABLE', `the token runs as the user ${name}, which is not possible: ${why}`, {
    details: { run_as: name },
    cause,
  });

/**
 * Resolves a directory named by a client, and checks that it can be entered.
 * @param see maps a path as seen by a session to one that the daemon can open
 * @throws AdapterError BAD_DIRECTORY
 */
function existingDirectory(wanted: string, base: string, see = (path: string) => path): string {
  const path = resolve(base, wanted);
  const refuse = (why: string): never => {
    throw new AdapterError('BAD_DIRECTORY', `${path} ${why}`, { details: { directory: path } });
  };
  try {
    const seen = see(path);
    if (!statSync(seen).isDirectory()) refuse('is not a directory');
    accessSync(seen, constants.X_OK);
  } catch (error) {
    if (error instanceof AdapterError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    refuse(code === 'ENOENT' ? 'does not exist' : `cannot be entered (${code ?? 'unknown error'})`);
  }
  return path;
}

/**
 * Resolves a directory named by a client. For the daemon's own user it is checked that it can be entered; other users'
 * shells find that out themselves, since the daemon may enter what they may not even know of.
 * @param see maps a path as seen by a session to one that the daemon can open
 * @throws AdapterError BAD_DIRECTORY
 */
export const enterableDirectory = (
  wanted: string,
  base: string,
  { launch }: Execution,
  see?: (path: string) => string,
): string => (launch ? resolve(base, wanted) : existingDirectory(wanted, base, see));

/**
 * Checks that another user can enter a directory, where a failure later on would do harm.
 * @throws AdapterError BAD_DIRECTORY
 */
export async function assertEnterable(directory: string, { launch }: Execution): Promise<void> {
  if (!launch || (await launch.canEnter(directory))) return;
  const message = `${directory} does not exist, or the user ${launch.user.name} cannot enter it`;
  throw new AdapterError('BAD_DIRECTORY', message, { details: { directory } });
}

/**
 * Finds the shell that a client wants. Other users get those of the search path: the daemon may see files that they may
 * not know of.
 * @throws AdapterError SHELL_NOT_FOUND
 */
export function shellFor(wanted: string | undefined, { pool, launch }: Execution): InstalledShell {
  if (wanted === undefined) return pool.defaultShell;
  const path = pool.env['PATH'] ?? '';
  if (!launch || !wanted.includes('/')) return findShell(wanted, path);
  const found = installedShells(path).find((shell) => shell.path === wanted);
  if (found) return found;
  const message = `${wanted} is no shell on PATH (${path}): a token with run_as can use those alone`;
  throw new AdapterError('SHELL_NOT_FOUND', message);
}

/** The workspace of the configuration if the user can enter it, else its home. */
export async function findWorkspace(launch: UserLaunch, workspace: string): Promise<string> {
  const { home } = launch.user;
  if (await launch.canEnter(workspace)) return workspace;
  if (await launch.canEnter(home)) return home;
  throw new Error(`it can enter neither the workspace ${workspace} nor its home ${home}`);
}

/** The drivers of the shells are read by the shells, and the directory of pipes is passed through. */
export async function assertReadable(launch: UserLaunch, directories: readonly string[]): Promise<void> {
  for (const directory of directories) {
    if (await launch.canEnter(directory)) continue;
    throw new Error(`it cannot enter ${directory}, which its shells need`);
  }
}

/** Variables of the daemon's own user that no other user gets. */
const OWN_VARIABLES: ReadonlySet<string> = new Set(['TMPDIR', 'XDG_RUNTIME_DIR']);

/** Variables as those of the daemon's own shells, with those of a login of the user. */
export function environmentOf(user: User, env: Readonly<Record<string, string>>): Record<string, string> {
  const { name, uid, home, shell } = user;
  const shared = Object.entries(env).filter(([variable]) => !OWN_VARIABLES.has(variable));
  const runtime = `/run/user/${uid}`;
  const hasRuntime = statSync(runtime, { throwIfNoEntry: false })?.uid === uid;
  return {
    ...Object.fromEntries(shared),
    HOME: home,
    USER: name,
    LOGNAME: name,
    SHELL: shell,
    ...(hasRuntime && { XDG_RUNTIME_DIR: runtime }),
  };
}

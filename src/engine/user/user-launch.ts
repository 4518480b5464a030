import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

import { findProgram } from '../shells/list.js';
import type { User } from './find-user.js';

const run = promisify(execFile);

/** The shell that enters the directory. */
const LAUNCH_SHELL = '/bin/sh';
/** Enters the directory with the rights of the user, whose permission the kernel checks; exit code as of `env -C`. */
const ENTER = 'cd -- "$1" || exit 126; unset OLDPWD; shift; exec "$@"';
/**
 * Closes what the daemon's own descriptors have let through: node-pty opens terminals without a close-on-exec flag, and
 * closes them in its own children only up to the first free number. A user could take the terminal of another one from a
 * process of its own (pidfd_getfd(2)), so root closes them. A one-shot has its request on 3, a sandbox its filter on 9.
 */
const CLOSE_OTHERS = `for __sa_fd in /proc/$$/fd/*; do
  __sa_fd=\${__sa_fd##*/}
  if ((__sa_fd > 2)) && { ((__sa_fd != 3 && __sa_fd != 9)) || [[ -t $__sa_fd ]]; }; then exec {__sa_fd}>&-; fi
done
unset __sa_fd SHLVL
exec "$@"`;
/** Timeout of an auxiliary program, in milliseconds. */
const AUXILIARY_MS = 10_000;

/** Paths of the programs that change the user. */
interface Programs {
  readonly bash: string;
  readonly setpriv: string;
}

/**
 * Starts programs as another user: with its user id, its groups and no capabilities. The daemon has to be root. What
 * comes before the program runs as root: it must get no variable and no working directory that the user can choose.
 */
export class UserLaunch {
  readonly user: User;
  readonly #groups: ReadonlySet<number>;
  readonly #prefix: readonly string[];

  private constructor(user: User, { bash, setpriv }: Programs, groups: readonly number[] = []) {
    this.user = user;
    this.#groups = new Set(groups);
    this.#prefix = [
      bash,
      // Privileged mode: no start-up file and no function of the environment counts (bash(1), -p).
      ...['--norc', '-p', '-c', CLOSE_OTHERS, 'bash'],
      setpriv,
      `--reuid=${user.uid}`,
      `--regid=${user.gid}`,
      '--init-groups',
      '--inh-caps=-all',
      '--',
      LAUNCH_SHELL,
      '-c',
      ENTER,
      'sh',
    ];
  }

  /**
   * Tests whether programs can be started as a user.
   * @param path search path for bash and setpriv(1)
   * @throws Error with the reason why not
   */
  static async find(user: User, path: string): Promise<UserLaunch> {
    const [bash, setpriv] = [findProgram('bash', path), findProgram('setpriv', path)];
    if (bash === undefined) throw new Error('bash is not installed, or not on PATH');
    if (setpriv === undefined) throw new Error('setpriv (util-linux) is not installed, or not on PATH');
    const launch = new UserLaunch(user, { bash, setpriv });
    const [uid, ...groups] = (await launch.run([LAUNCH_SHELL, '-c', 'id -u && id -G'])).trim().split(/\s+/).map(Number);
    if (uid !== user.uid) throw new Error(`a program was started with the user id ${uid} instead of ${user.uid}`);
    return new UserLaunch(user, { bash, setpriv }, groups);
  }

  /**
   * Returns the command line that starts a program as the user. The program replaces all others: its pid is the first.
   * @param cwd is entered as the user; exit code 126 when it cannot be
   */
  wrap(command: readonly string[], cwd: string): readonly string[] {
    return [...this.#prefix, cwd, ...command];
  }

  /**
   * Runs an auxiliary program as the user, without any variable; returns its standard output.
   * @throws Error with what it has written to stderr when it fails
   */
  async run(command: readonly string[], cwd = '/'): Promise<string> {
    const [file = '', ...args] = this.wrap(command, cwd);
    try {
      return (await run(file, args, { cwd: '/', env: {}, timeout: AUXILIARY_MS })).stdout;
    } catch (error) {
      const { stderr, message } = error as Error & { readonly stderr?: string };
      throw new Error(stderr?.trim() || message, { cause: error });
    }
  }

  /**
   * Writes a file with the rights of the user, which alone can read it.
   * @throws Error when that fails
   */
  async writeFile(path: string, content: string): Promise<void> {
    const [file = '', ...args] = this.wrap([LAUNCH_SHELL, '-c', 'umask 077; cat >"$1"', 'sh', path], '/');
    const writing = run(file, args, { cwd: '/', env: {}, timeout: AUXILIARY_MS });
    // EPIPE: the program has failed, which its exit reports.
    writing.child.stdin?.on('error', () => undefined).end(content);
    await writing;
  }

  /** Whether the user can get to a path without links, as far as the modes of the directories above it say. */
  canReach(path: string): boolean {
    const parent = dirname(path);
    const stat = statSync(parent, { throwIfNoEntry: false });
    if (!stat) return false;
    const bit = stat.uid === this.user.uid ? 0o100 : this.#groups.has(stat.gid) ? 0o010 : 0o001;
    return (stat.mode & bit) !== 0 && (parent === path || this.canReach(parent));
  }

  /** Whether the user can enter a directory. */
  async canEnter(directory: string): Promise<boolean> {
    return this.run(['true'], directory).then(
      () => true,
      () => false,
    );
  }
}

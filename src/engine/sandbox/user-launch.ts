import { statSync } from 'node:fs';
import { dirname } from 'node:path';

import { type AuxiliaryEnd, type AuxiliaryOptions, runApart } from '../process/run-apart.js';
import { findProgram } from '../shells/list.js';
import type { User } from '../system/find-user.js';

/** The shell that prepares the start of a program: enters its directory, or makes its mounts. */
export const LAUNCH_SHELL = '/bin/sh';
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
`;
/**
 * Gives the process an empty session keyring: the daemon's would be inherited, and with it the right to read its keys
 * (session-keyring(7)).
 */
const NEW_KEYRING = '"$1" new_session >/dev/null || exit\n';
/** Prints the user id, the groups, the capabilities and the visible keys of a process, in one section each. */
const WHO = 'id -u; echo; id -G; echo; grep "^Cap[IPEA]" /proc/self/status; echo; cat /proc/keys 2>/dev/null; :';
/** A session keyring in /proc/keys, with its id and the user id of its owner. Source: proc(5). */
const SESSION_KEYRING = /^([0-9a-f]+) .* (\d+) +-?\d+ keyring +_ses:/gm;

const SHARED_KEYRING = 'its processes would get at the session keyring of the daemon';
const NO_KEYCTL =
  'install keyctl (keyutils), or start the daemon without such a keyring (KeyringMode=inherit of systemd)';

/** Paths of the programs that change the user. */
interface Programs {
  readonly bash: string;
  readonly setpriv: string;
  /** Gives each process a session keyring of its own; undefined where the daemon has none that could be inherited. */
  readonly keyctl?: string | undefined;
}

/**
 * Starts programs as another user: with its user id, its groups and no capabilities. The daemon has to be root. What
 * comes before the program runs as root: it must get no variable and no working directory that the user can choose.
 */
export class UserLaunch {
  readonly user: User;
  readonly #groups: ReadonlySet<number>;
  readonly #prefix: readonly string[];

  private constructor(user: User, { bash, setpriv, keyctl = '' }: Programs, groups: readonly number[] = []) {
    this.user = user;
    this.#groups = new Set(groups);
    this.#prefix = [
      bash,
      // Privileged mode: no start-up file and no function of the environment counts (bash(1), -p).
      ...['--norc', '-p', '-c', `${CLOSE_OTHERS}${keyctl && NEW_KEYRING}shift; exec "$@"`, 'bash', keyctl],
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
   * @param path search path for bash, setpriv(1) and keyctl(1)
   * @throws Error with the reason why not
   */
  static async find(user: User, path: string): Promise<UserLaunch> {
    const [bash, setpriv] = [findProgram('bash', path), findProgram('setpriv', path)];
    if (bash === undefined) throw new Error('bash is not installed, or not on PATH');
    if (setpriv === undefined) throw new Error('setpriv (util-linux) is not installed, or not on PATH');
    const programs = { bash, setpriv };
    const { groups, keyrings } = await new UserLaunch(user, programs).#test();
    if (keyrings.length === 0) return new UserLaunch(user, programs, groups);
    const keyctl = findProgram('keyctl', path);
    if (keyctl === undefined) throw new Error(`${SHARED_KEYRING}: ${NO_KEYCTL}`);
    const apart = new UserLaunch(user, { ...programs, keyctl }, groups);
    const own = (await apart.#test()).keyrings;
    if (own.some((id) => keyrings.includes(id))) throw new Error(`${SHARED_KEYRING}, and keyctl gives it no other one`);
    return apart;
  }

  /** Runs a program, and returns the groups it has and the session keyrings of other users that it can see. */
  async #test(): Promise<{ readonly groups: readonly number[]; readonly keyrings: readonly string[] }> {
    const [uid = '', groups = '', capabilities = '', keys = ''] = (await this.run([LAUNCH_SHELL, '-c', WHO])).split(
      '\n\n',
    );
    const { user } = this;
    if (Number(uid) !== user.uid)
      throw new Error(`a program was started with the user id ${uid} instead of ${user.uid}`);
    const kept = capabilities.split('\n').filter((line) => !/:\s*0+$/.test(line));
    if (kept.length > 0) throw new Error(`a program was started with capabilities: ${kept.join(', ')}`);
    const keyrings = [...keys.matchAll(SESSION_KEYRING)].filter(([, , owner]) => Number(owner) !== user.uid);
    return { groups: groups.split(' ').map(Number), keyrings: keyrings.map(([, id = '']) => id) };
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
    const { stdout, stderr, exitCode } = await this.runToEnd(command, cwd);
    if (exitCode === 0) return stdout;
    throw new Error(stderr.trim() || `${command[0] ?? ''} ended with ${exitCode ?? 'a signal'}`);
  }

  /**
   * The same, whatever its exit code is.
   * @throws Error when it does not come to an end
   */
  runToEnd(command: readonly string[], cwd = '/', options: AuxiliaryOptions = {}): Promise<AuxiliaryEnd> {
    return runApart(this.wrap(command, cwd), options);
  }

  /**
   * Writes a file with the rights of the user, which alone can read it.
   * @throws Error when that fails
   */
  async writeFile(path: string, content: string): Promise<void> {
    const command = [LAUNCH_SHELL, '-c', 'umask 077; exec cat >"$1"', 'sh', path];
    const { stderr, exitCode } = await this.runToEnd(command, '/', { input: content });
    if (exitCode !== 0) throw new Error(stderr.trim() || `${path} could not be written`);
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

import { spawnSync } from 'node:child_process';

import { launchScript } from '../../core/sandbox/launch-script.js';
import { findProgram } from '../shells/list.js';
import type { Launch } from './sandbox.js';
import type { UserLaunch } from '../user/user-launch.js';

/** The shell that opens a program's descriptors inside. */
const LAUNCH_SHELL = '/bin/sh';
/** Timeout of the test, in milliseconds. */
const TRIAL_MS = 5000;

/**
 * Arguments of bubblewrap, up to the command: everything is as outside except for pids, and /proc, which shows them.
 * Source: bwrap(1), 0.8.
 */
const ARGUMENTS = ['--dev-bind', '/', '/', '--proc', '/proc', '--unshare-pid', '--die-with-parent'];

/** Starts each program in its own PID namespace: all its descendants end with it. */
export class PidNamespace {
  /** Whether only processes with limits are started in one. */
  readonly isForLimitsOnly: boolean;
  readonly #program: string;

  /** @param program path of bubblewrap */
  private constructor(program: string, isForLimitsOnly: boolean) {
    this.#program = program;
    this.isForLimitsOnly = isForLimitsOnly;
  }

  /**
   * Tests whether such namespaces can be created.
   * @param path search path for bubblewrap
   * @param isForLimitsOnly whether processes without limits are started outside
   * @param user starts bubblewrap as another user
   * @throws Error with the reason why not
   */
  static find(path: string, isForLimitsOnly: boolean, user?: UserLaunch): PidNamespace {
    const program = findProgram('bwrap', path);
    if (program === undefined) throw new Error('bubblewrap (bwrap) is not installed, or not on PATH');
    // A shell with pid 2 is in a new namespace: bubblewrap's own first process has pid 1.
    const args = [...ARGUMENTS, '--', LAUNCH_SHELL, '-c', '[ $$ = 2 ] && [ -e /proc/2/stat ]'];
    const [file = '', ...rest] = user?.wrap([program, ...args], '/') ?? [program, ...args];
    // In a session of its own: a process of another user must not have the daemon's terminal.
    const options = { encoding: 'utf8', timeout: TRIAL_MS, killSignal: 'SIGKILL', cwd: '/', detached: true } as const;
    const { status, stderr, error } = spawnSync(file, rest, options);
    if (error) throw new Error(`bubblewrap could not be run: ${error.message}`, { cause: error });
    if (status !== 0) throw new Error(stderr.trim() || `bubblewrap made no namespace (it ended with ${status})`);
    return new PidNamespace(program, isForLimitsOnly);
  }

  /** Returns the command line that starts a program in a namespace. */
  wrap({ command, descriptors, cwd }: Pick<Launch, 'command' | 'descriptors' | 'cwd'>): readonly string[] {
    const script = descriptors && launchScript({ mounts: [], descriptors, cwd });
    const launched = script === undefined ? command : [LAUNCH_SHELL, '-c', script, 'sh', ...command];
    // On a terminal the program has to stay in the terminal's session, for job control.
    return [this.#program, ...ARGUMENTS, ...(descriptors ? ['--new-session'] : []), '--', ...launched];
  }
}

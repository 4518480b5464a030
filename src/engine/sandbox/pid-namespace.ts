import { spawnSync } from 'node:child_process';

import { launchScript } from '../../core/sandbox/launch-script.js';
import { findProgram } from '../shells/list.js';
import type { Launch } from './sandbox.js';

/** The shell that opens a program's descriptors inside. */
const LAUNCH_SHELL = '/bin/sh';
/** Longest that a trial may take, in milliseconds. */
const TRIAL_MS = 5000;

/**
 * Arguments of bubblewrap, up to the command: everything is as it is outside but the numbers of processes, and /proc,
 * which shows them. Source: bwrap(1), 0.8.
 */
const ARGUMENTS = ['--dev-bind', '/', '/', '--proc', '/proc', '--unshare-pid', '--die-with-parent'];

/** Starts programs in a namespace of process ids each: what they start, and whatever becomes of it, ends with them. */
export class PidNamespace {
  /** Whether only processes with limits are to be started in one. */
  readonly isForLimitsOnly: boolean;
  readonly #program: string;

  /** @param program path of bubblewrap */
  private constructor(program: string, isForLimitsOnly: boolean) {
    this.#program = program;
    this.isForLimitsOnly = isForLimitsOnly;
  }

  /**
   * Tries whether such namespaces can be made.
   * @param path where bubblewrap is looked for
   * @param isForLimitsOnly whether processes without limits are started outside
   * @throws Error that says why not
   */
  static find(path: string, isForLimitsOnly: boolean): PidNamespace {
    const program = findProgram('bwrap', path);
    if (program === undefined) throw new Error('bubblewrap (bwrap) is not installed, or not on PATH');
    // Whoever is the third process of its namespace is in one: after bubblewrap's own first, the shell is the second.
    const args = [...ARGUMENTS, '--', LAUNCH_SHELL, '-c', '[ $$ = 2 ] && [ -e /proc/2/stat ]'];
    const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8', timeout: TRIAL_MS, cwd: '/' });
    if (error) throw new Error(`bubblewrap could not be run: ${error.message}`, { cause: error });
    if (status !== 0) throw new Error(stderr.trim() || `bubblewrap made no namespace (it ended with ${status})`);
    return new PidNamespace(program, isForLimitsOnly);
  }

  /** The command line that starts a program in one. */
  wrap({ command, descriptors, cwd }: Pick<Launch, 'command' | 'descriptors' | 'cwd'>): readonly string[] {
    const script = descriptors && launchScript({ mounts: [], descriptors, cwd });
    const launched = script === undefined ? command : [LAUNCH_SHELL, '-c', script, 'sh', ...command];
    // On a terminal it has to stay in the session of that, for job control.
    return [this.#program, ...ARGUMENTS, ...(descriptors ? ['--new-session'] : []), '--', ...launched];
  }
}

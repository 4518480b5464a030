import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { REPORT_MISSING } from '../../core/sandbox/launch-script.js';
import { findProgram } from '../shells/list.js';
import { quote } from '../shells/shell.js';
import { mountPointsOf } from '../system/mount-table.js';
import { readSmallFile } from '../system/small-file.js';

const run = promisify(execFile);

/** The shell that prepares the mounts. */
const LAUNCH_SHELL = '/bin/sh';
/** Timeout of the test, in milliseconds. */
const TRIAL_MS = 5000;

/**
 * Capabilities by which root could get around a read-only mount: it could mount the hierarchy again or enter other
 * namespaces (CAP_SYS_ADMIN), use a process that is in another one (CAP_SYS_PTRACE), or change the kernel
 * (CAP_SYS_MODULE, CAP_SYS_RAWIO). Source: capabilities(7).
 */
const DROPPED = ['sys_admin', 'sys_ptrace', 'sys_module', 'sys_rawio'].map((name) => `-${name}`).join(',');

/** Succeeds when no mount point can be written to, or made writable. */
const TRIAL = `
for point; do
  [ ! -w "$point/cgroup.procs" ] || { echo "$point can be written to"; exit 1; }
  ! mount -o remount,bind,rw "$point" 2>/dev/null || { echo "$point can be mounted again"; exit 1; }
done`;

/** Paths of programs of util-linux. Absolute: a command may come with a search path of its own. */
interface Programs {
  readonly unshare: string;
  readonly mount: string;
  readonly setpriv: string;
}

/**
 * Keeps the programs of root in their control groups: the hierarchies are read-only for them, in a mount namespace of
 * their own, and they cannot undo that. Everything else of the machine stays as it is.
 */
export class GroupConfinement {
  readonly #directories: readonly string[];
  readonly #programs: Programs;

  private constructor(directories: readonly string[], programs: Programs) {
    this.#directories = directories;
    this.#programs = programs;
  }

  /**
   * Tests whether programs can be confined.
   * @param directories of the control groups
   * @param path search path for the programs
   * @throws Error with the reason why not
   */
  static async find(directories: readonly string[], path: string): Promise<GroupConfinement> {
    const find = (name: string) => {
      const program = findProgram(name, path);
      if (program === undefined) throw new Error(`${name} (util-linux) is not installed, or not on PATH`);
      return program;
    };
    const programs = { unshare: find('unshare'), mount: find('mount'), setpriv: find('setpriv') };
    const confinement = new GroupConfinement(directories, programs);
    await confinement.#test();
    return confinement;
  }

  /** Returns the command line that starts a program confined. The program replaces all others: its pid is the first. */
  wrap(command: readonly string[]): readonly string[] {
    const { unshare, mount, setpriv } = this.#programs;
    const script = [
      ...this.#points().map((point) => `${quote(mount)} -o remount,bind,ro ${quote(point)} || exit 126`),
      REPORT_MISSING,
      `exec ${quote(setpriv)} --inh-caps=${DROPPED} --bounding-set=${DROPPED} -- "$@"`,
    ].join('\n');
    // Mounts made on the machine later appear in it, but not the other way round.
    return [unshare, '--mount', '--propagation', 'slave', '--', LAUNCH_SHELL, '-c', script, 'sh', ...command];
  }

  /** Read for each launch: hierarchies may have been mounted meanwhile. */
  #points(): readonly string[] {
    return mountPointsOf(this.#directories, readSmallFile('/proc/self/mountinfo') ?? '');
  }

  async #test(): Promise<void> {
    const [file = '', ...args] = this.wrap([LAUNCH_SHELL, '-c', TRIAL, 'sh', ...this.#points()]);
    try {
      await run(file, args, { timeout: TRIAL_MS, cwd: '/' });
    } catch (error) {
      const { stdout, stderr, message } = error as Error & { stdout?: string; stderr?: string };
      throw new Error((stdout || stderr || message).trim(), { cause: error });
    }
  }
}

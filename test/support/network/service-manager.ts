import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { eventually } from '../measure.js';
import { descendantsOf } from '../processes.js';

const PROGRAM = '/lib/systemd/systemd';
/** Where units see the folder of the test: their own /tmp, if they have one, hides that of the machine. */
const INSIDE = '/run/test';
const START_MS = 20_000;

/** False where systemd cannot be run as the manager of a user: that needs root, bubblewrap and the program. */
export const canManage =
  process.getuid?.() === 0 &&
  existsSync(PROGRAM) &&
  spawnSync('bwrap', ['--unshare-pid', '--dev-bind', '/', '/', 'true']).status === 0;

/**
 * A real systemd, as the manager of a user, in a PID namespace of its own: with it, everything ends that its units have
 * started. It has a `/run` of its own, in which it finds what it needs to start, and a `/tmp`.
 */
export class ServiceManager implements AsyncDisposable {
  /** A folder for units and what they need, and its path for them. */
  readonly folder: string;
  readonly inside = INSIDE;
  readonly #directory: string;
  readonly #child: ChildProcess;

  private constructor(directory: string) {
    this.#directory = directory;
    this.folder = join(directory, 'test');
    for (const path of ['systemd/system', 'user', 'test/systemd/user'])
      mkdirSync(join(directory, path), { recursive: true, mode: 0o700 });
    const variables = { XDG_RUNTIME_DIR: '/run/user', XDG_CONFIG_HOME: INSIDE, HOME: INSIDE };
    const mounts = ['--dev-bind', '/', '/', '--bind', directory, '/run', '--tmpfs', '/tmp', '--proc', '/proc'];
    const manager = [PROGRAM, '--user', '--log-target=null'];
    this.#child = spawn('bwrap', [...mounts, '--unshare-pid', '--die-with-parent', ...manager], {
      stdio: 'ignore',
      env: { ...process.env, ...variables },
    });
  }

  /** Starts it, and waits until it answers. */
  static async start(): Promise<ServiceManager> {
    const manager = new ServiceManager(mkdtempSync(join(tmpdir(), 'shell-adapter-systemd-')));
    try {
      await eventually(() => manager.control('list-units'), START_MS);
      return manager;
    } catch (error) {
      await manager[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Runs `systemctl`; gives what it prints. Rejects when it fails. */
  control(...args: readonly string[]): Promise<string> {
    return this.run(['systemctl', '--user', ...args]);
  }

  /** Runs a program where its units run; gives what it prints. Rejects when it fails. */
  async run([program, ...args]: readonly [string, ...string[]], env: NodeJS.ProcessEnv = {}): Promise<string> {
    const manager = descendantsOf(this.#child.pid!).find(({ command }) => command.startsWith(PROGRAM));
    if (!manager) throw new Error('systemd does not run yet');
    // It answers only those whose process ids it knows.
    const within = ['--target', String(manager.pid), '--pid', '--mount', program, ...args];
    const run = promisify(execFile)('nsenter', within, {
      env: { ...process.env, XDG_RUNTIME_DIR: '/run/user', ...env },
    });
    return (await run).stdout;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = once(this.#child, 'exit');
    // The first process of its namespace, with which all others end.
    if (this.#child.exitCode === null && this.#child.kill('SIGKILL')) await exited;
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type DaemonOptions, TestDaemon } from '../support/daemon.js';
import { canMount, Tmpfs } from '../support/machine/tmpfs.js';

/** Room for the daemon's state and the spool, so that a disk can be filled without filling the machine's. */
const DISK_MIB = 192;
/** V8 takes what it is given: with a small heap, garbage does not look like a leak. In MiB. */
const HEAP_MIB = 96;

/** A daemon that is killed and started again in the same folders, on a port that changes. */
export class SoakedDaemon implements AsyncDisposable {
  /** In the environment of its shells as SOAK_SHELL, and in its own as SOAK_DAEMON. */
  readonly mark: string;
  /** A file system of its own for state and spool; undefined where this user may not mount one. */
  readonly disk: Tmpfs | undefined;
  readonly directory: string;
  readonly #options: DaemonOptions;
  /** Of every daemon that there was. */
  readonly pids: number[] = [];
  #daemon: TestDaemon | undefined;

  private constructor(mark: string) {
    this.mark = mark;
    this.disk = canMount() ? new Tmpfs(DISK_MIB) : undefined;
    this.directory = mkdtempSync(join(tmpdir(), 'shell-adapter-soak-'));
    this.#options = {
      env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}`, SOAK_DAEMON: mark },
      settings: {
        adapter: {
          ...(this.disk && { state_directory: this.disk.path }),
          environment: { set: { SOAK_SHELL: mark } },
          command_max_lifetime: 5,
          kill_grace: 0.5,
          wedge_timeout: 1,
          reconnect_grace: 1,
          spool_mb_limit: 8,
        },
        confirmation: { mode: 'off' },
        socketio: { unix_socket: this.socket },
        logging: { logging_level: 'warning' },
      },
    };
  }

  static async start(mark: string): Promise<SoakedDaemon> {
    const soaked = new SoakedDaemon(mark);
    await soaked.restart();
    return soaked;
  }

  /** Where local programs connect, besides the port. */
  get socket(): string {
    return join(this.directory, 'socket');
  }

  get stateDirectory(): string {
    return this.disk?.path ?? join(this.directory, 'state');
  }

  get url(): string {
    return this.#running.url;
  }

  get pid(): number {
    return this.#running.pid;
  }

  /** What the daemon that runs now has printed. */
  get output(): string {
    return this.#running.output;
  }

  /** Kills the daemon, if there is one, without giving it a chance to clean up, and starts another. */
  async restart(): Promise<void> {
    this.#daemon?.signal('SIGKILL');
    await this.#daemon?.exited;
    this.#daemon = await TestDaemon.start(this.#options, this.directory);
    this.pids.push(this.#daemon.pid);
  }

  /** Ends the daemon by SIGTERM; gives its exit code. */
  async stop(): Promise<number | NodeJS.Signals> {
    return this.#running.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.disk?.[Symbol.dispose]();
    rmSync(this.directory, { recursive: true, force: true });
    return Promise.resolve();
  }

  get #running(): TestDaemon {
    if (!this.#daemon) throw new Error('the daemon does not run');
    return this.#daemon;
  }
}

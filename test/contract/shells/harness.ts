import { mkdtempSync, readdirSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { LimitMechanismName } from '../../../src/core/limits.js';
import { NO_METRICS } from '../../../src/core/metrics.js';
import type { Log } from '../../../src/core/log.js';
import type { LimitMechanism } from '../../../src/engine/limits/mechanism.js';
import { chooseMechanism } from '../../../src/engine/limits/probe.js';
import type { SandboxProfile } from '../../../src/core/sandbox-profiles.js';
import { findInstanceProcesses } from '../../../src/engine/process/find-processes.js';
import { makeRuntimeDirectory, type RuntimeDirectory } from '../../../src/engine/instance/runtime-directory.js';
import type { Platform } from '../../../src/engine/platform/platform.js';
import { linux } from '../../../src/engine/platform/linux/linux.js';
import { Launcher } from '../../../src/engine/sandbox/launcher.js';
import { Session } from '../../../src/engine/session/session.js';
import { ShellPool } from '../../../src/engine/shell/shell-pool.js';
import { removeTreeSync } from '../../../src/engine/system/local-files.js';
import { findShell, type InstalledShell } from '../../../src/engine/shells/list.js';
import { TestSession } from './test-session.js';

/** The shells that must all keep the contract. */
export const SHELL_NAMES = ['bash', 'zsh', 'sh'] as const;
export type ShellName = (typeof SHELL_NAMES)[number];

/** Where the shells are. */
export const PATH = '/usr/local/bin:/usr/bin:/bin';
/** As short as a test can wait for a shell that will not come back. */
const WEDGE_TIMEOUT_MS = 300;
const KILL_GRACE_MS = 1000;
/** How long the kernel and Node may take to close what was closed. */
const SETTLE_MS = 5000;

const ignore = () => undefined;
const QUIET: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };

const openDescriptors = (): number => readdirSync('/proc/self/fd').length;

/** How the shells of a suite are run. */
export interface Surroundings {
  /** @default none */
  readonly profile?: SandboxProfile;
  /** @default auto */
  readonly limitMechanism?: LimitMechanismName | 'auto';
  /** @default Linux */
  readonly platform?: Platform;
}

interface Place {
  readonly installed: InstalledShell;
  readonly root: string;
  readonly runtime: RuntimeDirectory;
  readonly platform: Platform;
}

/** The engine without a daemon around it: a runtime directory and a pool, from which sessions of one shell are opened. */
export class ShellHarness implements AsyncDisposable {
  readonly installed: InstalledShell;
  /** A directory for the test's files. */
  readonly root: string;
  readonly #runtime: RuntimeDirectory;
  readonly platform: Platform;
  /** Creates the process group of each shell. */
  readonly mechanism: LimitMechanism;
  readonly #launcher: Launcher;
  readonly #pool: ShellPool;
  readonly #descriptorsBefore: number;

  private constructor(
    { installed, root, runtime, platform }: Place,
    launcher: Launcher,
    mechanism: LimitMechanism,
    descriptorsBefore: number,
  ) {
    this.#descriptorsBefore = descriptorsBefore;
    this.root = root;
    this.installed = installed;
    this.#runtime = runtime;
    this.mechanism = mechanism;
    this.#launcher = launcher;
    const env = { PATH, HOME: this.root, LANG: 'C.UTF-8', TERM: 'dumb', PAGER: 'cat' };
    this.platform = platform;
    this.#pool = new ShellPool({
      platform,
      runtime: this.#runtime,
      defaultShell: this.installed,
      mechanism: this.mechanism,
      cwd: this.root,
      env,
      isLimited: () => false,
      size: 0,
      launcher,
      log: QUIET,
    });
  }

  /** @throws when the sandbox, or the mechanism, does not work on this machine */
  static async start(
    name: ShellName | 'fish' | 'pwsh',
    { profile = 'none', limitMechanism = 'auto', platform = linux }: Surroundings = {},
  ): Promise<ShellHarness> {
    // All watches of a process share one descriptor, which stays.
    watch('/', { persistent: false }).close();
    // So do those that are held for ps(1), where it lists the processes.
    platform.processes.list();
    const before = openDescriptors();
    const root = mkdtempSync(join(tmpdir(), `shell-adapter-contract-${name}-`));
    const runtime = makeRuntimeDirectory(platform, [root]);
    const { mechanism } = chooseMechanism(limitMechanism, { instance: runtime.instance, path: PATH, platform });
    const options = {
      profile,
      platform,
      path: PATH,
      workspace: root,
      homes: [root],
      runtimeParent: dirname(runtime.path),
      directory: runtime.path,
      hidden: [],
      network: true,
      unixSockets: false,
      protectedPaths: [],
      namespace: mechanism.namespace,
    };
    const launcher = await Launcher.find(options, { metrics: NO_METRICS, log: QUIET });
    if (launcher.standing.reason !== undefined) throw new Error(launcher.standing.reason);
    return new ShellHarness({ installed: findShell(name, PATH), root, runtime, platform }, launcher, mechanism, before);
  }

  /**
   * Opens a session in a directory of its own.
   * @param wedgeTimeoutMs time after which a shell that looks lost is replaced
   */
  async openSession(wedgeTimeoutMs = WEDGE_TIMEOUT_MS): Promise<TestSession> {
    const directory = mkdtempSync(join(this.root, 'w'));
    const tellsOfInput = this.platform.can.openFiles;
    return TestSession.open({ directory, spools: this.root, tellsOfInput }, (listener) =>
      Session.open(
        {
          installed: this.installed,
          sandbox: this.#pool.sandbox.profile,
          cwd: directory,
          env: {},
          cols: 80,
          rows: 24,
          killGraceMs: KILL_GRACE_MS,
          limits: {},
          wedgeTimeoutMs,
          pool: this.#pool,
          log: QUIET,
        },
        listener,
      ),
    );
  }

  /** What is left when everything was closed: processes with the bench's tag, and descriptors of this process. */
  async leftovers(): Promise<{ processes: number[]; descriptors: number }> {
    const deadline = performance.now() + SETTLE_MS;
    for (;;) {
      const processes = findInstanceProcesses(this.#runtime.instance, this.platform.processes).map(({ pid }) => pid);
      const descriptors = openDescriptors() - this.#descriptorsBefore;
      if ((processes.length === 0 && descriptors <= 0) || performance.now() > deadline) {
        return { processes, descriptors: Math.max(0, descriptors) };
      }
      await sleep(5);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool[Symbol.asyncDispose]();
    await this.#launcher[Symbol.asyncDispose]();
    this.mechanism[Symbol.dispose]();
    removeTreeSync(this.#runtime.path);
    rmSync(this.root, { recursive: true, force: true });
  }
}

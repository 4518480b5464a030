import type { SandboxProfile } from '../../core/sandbox/profiles.js';
import { type SandboxStatus, resolveSandboxStatus } from '../../core/sandbox/status.js';
import { findProgram } from '../shells/list.js';
import { realPath } from './machine-places.js';
import type { PidNamespace } from './pid-namespace.js';
import { type Launch, Sandbox, type SandboxOptions } from './sandbox.js';
import { testSandbox } from './self-test.js';

/** Options of `Launcher.find`. */
export interface LauncherOptions extends Omit<SandboxOptions, 'program'> {
  readonly profile: SandboxProfile;
  /** Search path for bubblewrap. */
  readonly path: string;
  /** PID namespace for programs outside of a sandbox, if any. */
  readonly namespace?: PidNamespace | undefined;
}

const NOT_INSTALLED = 'bubblewrap (bwrap) is not installed, or not on PATH';
const WHOLE_MACHINE = 'the workspace is the root directory, so everything would be writable';
const WORKSPACE_HIDDEN =
  'the workspace is also the state directory, or the folder of the Unix socket, which has to be hidden';

/** Decides how the daemon's shells and programs are started: directly, in a PID namespace, or in a sandbox. */
export class Launcher {
  readonly standing: SandboxStatus;
  readonly #sandbox: Sandbox | undefined;
  readonly #namespace: PidNamespace | undefined;
  #hasSharedNetwork = false;

  constructor(standing: SandboxStatus, sandbox: Sandbox | undefined, namespace?: PidNamespace) {
    this.standing = standing;
    this.#sandbox = sandbox;
    this.#namespace = namespace;
  }

  /** Searches for bubblewrap, and tests every profile. */
  static async find({ profile, path, namespace, ...options }: LauncherOptions): Promise<Launcher> {
    const program = findProgram('bwrap', path);
    const obstacle = obstacleTo(options);
    if (program === undefined || obstacle !== undefined) {
      const why = obstacle ?? NOT_INSTALLED;
      return new Launcher(resolveSandboxStatus(profile, { workspace: why, strict: why }), undefined, namespace);
    }
    const sandbox = new Sandbox({ ...options, program });
    return new Launcher(resolveSandboxStatus(profile, await testSandbox(sandbox, options)), sandbox, namespace);
  }

  /**
   * Whether a program in a sandbox may have connected to the daemon, because one that shares its network was started.
   */
  get hasSharedNetwork(): boolean {
    return this.#hasSharedNetwork;
  }

  /** Whether such programs have their own PID namespace, so that all their descendants end with them. */
  isolates({ profile, isLimited }: Pick<Launch, 'profile' | 'isLimited'>): boolean {
    return profile !== 'none' || this.#namespaceFor(isLimited) !== undefined;
  }

  /** Returns the command line that starts a program under its profile. */
  wrap(launch: Launch): readonly string[] {
    const { profile } = launch;
    if (profile === 'none' || !this.#sandbox) {
      return this.#namespaceFor(launch.isLimited)?.wrap(launch) ?? launch.command;
    }
    this.#hasSharedNetwork ||= profile === 'workspace';
    return this.#sandbox.wrap({ ...launch, profile });
  }

  #namespaceFor(isLimited: boolean): PidNamespace | undefined {
    return isLimited || this.#namespace?.isForLimitsOnly === false ? this.#namespace : undefined;
  }
}

/** Returns the reason why no sandbox is possible with these paths. */
function obstacleTo({ workspace, hidden }: Pick<LauncherOptions, 'workspace' | 'hidden'>): string | undefined {
  const real = realPath(workspace) ?? workspace;
  if (real === '/') return WHOLE_MACHINE;
  const isToBeHidden = hidden.some((path) => realPath(path) === real);
  return isToBeHidden ? WORKSPACE_HIDDEN : undefined;
}

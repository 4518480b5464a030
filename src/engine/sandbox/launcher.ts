import type { SandboxProfile } from '../../core/sandbox/profiles.js';
import { type SandboxStatus, resolveSandboxStatus } from '../../core/sandbox/status.js';
import { findProgram } from '../shells/list.js';
import type { GroupConfinement } from './group-confinement.js';
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
  /** Keeps programs with limits in their control groups, outside of a sandbox, if they could leave them. */
  readonly confinement?: GroupConfinement | undefined;
}

/** How programs can be started outside of a sandbox. */
type OutsideWays = Pick<LauncherOptions, 'namespace' | 'confinement'>;

const NOT_INSTALLED = 'bubblewrap (bwrap) is not installed, or not on PATH';
const WHOLE_MACHINE = 'the workspace is the root directory, so everything would be writable';
const WORKSPACE_HIDDEN =
  'the workspace is also the state directory, or the folder of the Unix socket, which has to be hidden';

/** Decides how the daemon's shells and programs are started: directly, confined to their control group, in a PID namespace, or in a sandbox. */
export class Launcher {
  readonly standing: SandboxStatus;
  readonly #sandbox: Sandbox | undefined;
  readonly #outside: OutsideWays;
  #hasSharedNetwork = false;

  constructor(standing: SandboxStatus, sandbox: Sandbox | undefined, outside: OutsideWays = {}) {
    this.standing = standing;
    this.#sandbox = sandbox;
    this.#outside = outside;
  }

  /** Searches for bubblewrap, and tests every profile. */
  static async find({ profile, path, namespace, confinement, ...options }: LauncherOptions): Promise<Launcher> {
    const outside = { namespace, confinement };
    const program = findProgram('bwrap', path);
    const obstacle = obstacleTo(options);
    if (program === undefined || obstacle !== undefined) {
      const why = obstacle ?? NOT_INSTALLED;
      return new Launcher(resolveSandboxStatus(profile, { workspace: why, strict: why }), undefined, outside);
    }
    const sandbox = new Sandbox({ ...options, program });
    return new Launcher(resolveSandboxStatus(profile, await testSandbox(sandbox, options)), sandbox, outside);
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

  /** Whether such programs are root, and must not be able to raise their own limits. */
  holds({ isLimited }: Pick<Launch, 'isLimited'>): boolean {
    return isLimited && this.#outside.confinement !== undefined;
  }

  /** Identifies the way in which such programs are started: one that was started ahead of need fits if it is the same. */
  wayOf(kind: Pick<Launch, 'profile' | 'isLimited'>): string {
    return `${kind.profile} ${this.isolates(kind)} ${this.holds(kind)}`;
  }

  /** Returns the command line that starts a program under its profile. */
  wrap(launch: Launch): readonly string[] {
    const { profile } = launch;
    if (profile === 'none' || !this.#sandbox) {
      const { command, isLimited } = launch;
      return this.#namespaceFor(isLimited)?.wrap(launch) ?? this.#confinementFor(launch)?.wrap(command) ?? command;
    }
    this.#hasSharedNetwork ||= profile === 'workspace';
    return this.#sandbox.wrap({ ...launch, profile });
  }

  #namespaceFor(isLimited: boolean): PidNamespace | undefined {
    const { namespace } = this.#outside;
    return isLimited || namespace?.isForLimitsOnly === false ? namespace : undefined;
  }

  #confinementFor({ profile, isLimited }: Pick<Launch, 'profile' | 'isLimited'>): GroupConfinement | undefined {
    return profile === 'none' && isLimited ? this.#outside.confinement : undefined;
  }
}

/** Returns the reason why no sandbox is possible with these paths. */
function obstacleTo({ workspace, hidden }: Pick<LauncherOptions, 'workspace' | 'hidden'>): string | undefined {
  const real = realPath(workspace) ?? workspace;
  if (real === '/') return WHOLE_MACHINE;
  const isToBeHidden = hidden.some((path) => realPath(path) === real);
  return isToBeHidden ? WORKSPACE_HIDDEN : undefined;
}

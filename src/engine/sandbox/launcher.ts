import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import { type AllowedDestination, AllowList, proxyVariables } from '../../core/egress.js';
import { AdapterError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import type { Metrics } from '../../core/metrics.js';
import { launchScript, REPORT_MISSING, resolveSandboxStatus, type SandboxStatus } from '../../core/sandbox.js';
import type { SandboxProfile } from '../../core/sandbox-profiles.js';
import { Dialer } from '../egress/dialer.js';
import type { Platform } from '../platform/platform.js';
import { runApart } from '../process/run-apart.js';
import { findProgram } from '../shells/list.js';
import { quote } from '../shells/shell.js';
import { type FileOwner, writeFileFor } from '../system/own-user.js';
import { mountPointsOf } from '../system/mounts.js';
import { readSmallFile } from '../system/local-files.js';
import { LAUNCH_SHELL, type UserLaunch } from './user-launch.js';
import { CoverKeeper, findCoverPrograms, type SandboxedProcess } from './cover-keeper.js';
import { type NamespacePrograms, type SandboxNetwork, SandboxNetworks } from './sandbox-networks.js';
import { type Launch, type LaunchKind, realPath, Sandbox, type SandboxOptions } from './sandbox.js';
import { testSandbox } from './self-test.js';

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
    await confinement.#test(path);
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

  async #test(path: string): Promise<void> {
    const command = this.wrap([LAUNCH_SHELL, '-c', TRIAL, 'sh', ...this.#points()]);
    const { stdout, stderr, exitCode } = await runApart(command, { env: { PATH: path }, timeoutMs: TRIAL_MS });
    if (exitCode === 0) return;
    throw new Error((stdout || stderr).trim() || `it ended with ${exitCode ?? 'a signal'}`);
  }
}

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

/** The destinations that sandboxes can connect to, through the daemon's proxy. */
interface EgressOptions {
  readonly allow: readonly AllowedDestination[];
  /** Most connections of one sandbox at once. */
  readonly maxConnections: number;
  /** Time after which a connection without any traffic is closed, in milliseconds. */
  readonly idleTimeoutMs: number;
}

/** Where connections out of sandboxes are counted, and faults reported. */
export interface EgressReporting {
  readonly metrics: Metrics;
  readonly log: Log;
}

export interface LauncherOptions extends Omit<SandboxOptions, 'program' | 'sharesNetwork'> {
  readonly profile: SandboxProfile;
  /** Whether the profile `workspace` shares the machine's network, or what every sandbox can connect to instead. */
  readonly network: boolean | EgressOptions;
  readonly platform: Platform;
  /** Search path for bubblewrap. */
  readonly path: string;
  /** PID namespace for programs outside of a sandbox, if any. */
  readonly namespace?: PidNamespace | undefined;
  /** Keeps programs with limits in their control groups, outside of a sandbox, if they could leave them. */
  readonly confinement?: GroupConfinement | undefined;
}

/** How programs can be started outside of a sandbox. */
type OutsideWays = Pick<LauncherOptions, 'namespace' | 'confinement' | 'user'>;

/** What programs in a sandbox need. */
interface InsideWays {
  readonly sandbox?: Sandbox | undefined;
  readonly egress?: Egress | undefined;
  readonly keeper?: CoverKeeper | undefined;
}

const NOT_INSTALLED = 'bubblewrap (bwrap) is not installed, or not on PATH';
const NO_NSENTER = 'sandbox.network.allow needs nsenter (util-linux), which is not on PATH';
const WHOLE_MACHINE = 'the workspace is the root directory, so everything would be writable';
const WORKSPACE_HIDDEN =
  'the workspace is also the state directory, or the folder of the Unix socket, which has to be hidden';

/** Decides how the daemon's shells and programs are started: directly, confined to their control group, in a PID namespace, or in a sandbox. */
export class Launcher implements AsyncDisposable {
  readonly standing: SandboxStatus;
  readonly #sandbox: Sandbox | undefined;
  readonly #outside: OutsideWays;
  readonly #egress: Egress | undefined;
  readonly #keeper: CoverKeeper | undefined;
  #hasSharedNetwork = false;

  constructor(standing: SandboxStatus, outside: OutsideWays, { sandbox, egress, keeper }: InsideWays = {}) {
    this.standing = standing;
    this.#outside = outside;
    this.#sandbox = sandbox;
    this.#egress = egress;
    this.#keeper = keeper;
  }

  /** Searches for bubblewrap, and tests every profile. */
  static async find(options: LauncherOptions, reporting: EgressReporting): Promise<Launcher> {
    const { profile, path, namespace, confinement, network, user } = options;
    const outside = { namespace, confinement, user };
    const program = findProgram('bwrap', path);
    const nsenter = findProgram('nsenter', path);
    const why = obstacleTo(options) ?? (typeof network === 'object' && nsenter === undefined ? NO_NSENTER : undefined);
    if (program === undefined || why !== undefined) {
      const problem = why ?? NOT_INSTALLED;
      return new Launcher(resolveSandboxStatus(profile, { workspace: problem, strict: problem }), outside);
    }
    const sandbox = new Sandbox({ ...options, program, sharesNetwork: network === true });
    const programs = { program, nsenter: nsenter ?? '' };
    const egress = typeof network === 'object' ? buildEgress(network, programs, reporting) : undefined;
    const problems = await testSandbox(sandbox, { ...options, networks: egress?.networks });
    const keeper = new CoverKeeper(sandbox, findCoverPrograms(path), reporting.log);
    return new Launcher(resolveSandboxStatus(profile, problems), outside, { sandbox, egress, keeper });
  }

  /**
   * Returns the network for a program with this profile; undefined when it needs none of its own.
   * @throws AdapterError SHELL_FAILED when it cannot be made
   */
  async networkFor(profile: SandboxProfile): Promise<SandboxNetwork | undefined> {
    if (profile === 'none') return undefined;
    try {
      return await this.#egress?.networks.take();
    } catch (cause) {
      throw new AdapterError('SHELL_FAILED', (cause as Error).message, { cause });
    }
  }

  /** Never lets a sandbox connect to this port of the machine, whatever the allow-list has. */
  forbidOwnPort(port: number): void {
    this.#egress?.dialer.forbidOwnPort(port);
  }

  /** Keeps secrets hidden from a program that was started with this profile, until `forget`. */
  keepHidden(profile: SandboxProfile, started: SandboxedProcess): void {
    if (profile !== 'none') this.#keeper?.keepFor(started);
  }

  /** Tells that such a program has ended. */
  forget(ended: SandboxedProcess): void {
    this.#keeper?.forget(ended);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#keeper?.[Symbol.dispose]();
    await this.#egress?.networks[Symbol.asyncDispose]();
  }

  /** The user of the programs, if it is not the daemon's. */
  get owner(): FileOwner | undefined {
    return this.#outside.user?.user;
  }

  /** Where the daemon starts a program that is to run in a directory: programs of other users enter it on their own. */
  startDirectory(cwd: string): string {
    return this.#outside.user ? '/' : cwd;
  }

  /**
   * Whether a program in a sandbox may have connected to the daemon, because one that shares its network was started.
   */
  get hasSharedNetwork(): boolean {
    return this.#hasSharedNetwork;
  }

  /** Whether such programs have their own PID namespace, so that all their descendants end with them. */
  isolates({ profile, isLimited }: LaunchKind): boolean {
    return profile !== 'none' || this.#namespaceFor(isLimited) !== undefined;
  }

  /** Whether such programs are root, and must not be able to raise their own limits. */
  holds({ isLimited }: LaunchKind): boolean {
    return isLimited && this.#outside.confinement !== undefined;
  }

  /** Identifies the way in which such programs are started: one that was started ahead of need fits if it is the same. */
  wayOf(kind: LaunchKind): string {
    return `${kind.profile} ${this.isolates(kind)} ${this.holds(kind)}`;
  }

  /** Identifies what such a program may not write to, as of now: see `Sandbox.protection`. */
  protectionOf(profile: SandboxProfile): string {
    return (profile === 'none' ? undefined : this.#sandbox?.protection) ?? '';
  }

  /** Returns the command line that starts a program under its profile. */
  wrap(launch: Launch): readonly string[] {
    const { profile } = launch;
    if (profile === 'none' || !this.#sandbox) return this.#wrapOutside(launch);
    this.#hasSharedNetwork ||= this.#sandbox.sharesNetwork(launch);
    return this.#sandbox.wrap({ ...launch, profile });
  }

  #wrapOutside(launch: Launch): readonly string[] {
    const { command, isLimited, cwd, directory, ownFiles = [] } = launch;
    const wrapped =
      this.#namespaceFor(isLimited)?.wrap(launch) ?? this.#confinementFor(launch)?.wrap(command) ?? command;
    const { user } = this.#outside;
    if (!user) return wrapped;
    // The directory is the daemon's: the user cannot create files there.
    for (const name of ownFiles) writeFileFor(user.user, join(directory, name), '');
    return user.wrap(wrapped, cwd);
  }

  #namespaceFor(isLimited: boolean): PidNamespace | undefined {
    const { namespace } = this.#outside;
    return isLimited || namespace?.isForLimitsOnly === false ? namespace : undefined;
  }

  #confinementFor({ profile, isLimited }: LaunchKind): GroupConfinement | undefined {
    return profile === 'none' && isLimited ? this.#outside.confinement : undefined;
  }
}

/** The proxies of sandboxes with an allow-list. */
interface Egress {
  readonly dialer: Dialer;
  readonly networks: SandboxNetworks;
}

function buildEgress(
  { allow, maxConnections, idleTimeoutMs }: EgressOptions,
  programs: NamespacePrograms,
  { metrics, log }: EgressReporting,
): Egress {
  const allowList = new AllowList(allow);
  const dialer = new Dialer(allowList);
  const proxy = { dialer, metrics, log, maxConnections, idleTimeoutMs };
  const variables = proxyVariables(allowList.ownHosts);
  return { dialer, networks: new SandboxNetworks(programs, proxy, variables) };
}

/** Returns the reason why no sandbox is possible with these paths. */
function obstacleTo({ workspace, hidden, platform }: LauncherOptions): string | undefined {
  if (!platform.can.sandbox) return `the platform ${platform.name} has no sandbox`;
  const real = realPath(workspace) ?? workspace;
  if (real === '/') return WHOLE_MACHINE;
  const isToBeHidden = hidden.some((path) => realPath(path) === real);
  return isToBeHidden ? WORKSPACE_HIDDEN : undefined;
}

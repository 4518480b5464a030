import { existsSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { bubblewrapArguments, type Place, type SandboxPlan } from '../../core/sandbox/arguments.js';
import { coversOf, isWithin } from '../../core/sandbox/covers.js';
import { launchScript } from '../../core/sandbox/launch-script.js';
import type { RealProfile, SandboxProfile } from '../../core/sandbox/profiles.js';
import { socketFilter } from '../../core/sandbox/socket-filter.js';
import { sandboxVariables } from '../../core/sandbox/variables.js';
import { DRIVERS_DIRECTORY } from '../shells/list.js';
import { linksOnTheWay } from './links.js';
import { credentialPaths, credentialPatterns } from './credential-paths.js';
import { hidden, realPath, systemPlaces } from './machine-places.js';
import { protectedPlaces } from './protected-places.js';
import { Repositories } from './repositories.js';
import type { SandboxNetwork } from './sandbox-networks.js';
import { type FileOwner, writeFileFor } from '../system/file-owner.js';
import type { UserLaunch } from '../user/user-launch.js';
import { type WatchedNames, watchedNames } from './watched-names.js';

/** The shell that runs the launch script in a sandbox before its program starts. */
const LAUNCH_SHELL = '/bin/sh';
/** Descriptor of the seccomp filter: the highest that every shell can open. */
const FILTER_DESCRIPTOR = 9;
/** Opens the filter in its first argument for the program that follows: terminals and pipes pass no descriptor on. */
const WITH_FILTER = `exec ${FILTER_DESCRIPTOR}<"$1"; shift; exec "$@"`;

/** Options of `Sandbox`. */
export interface SandboxOptions {
  /** Path of bubblewrap. */
  readonly program: string;
  readonly workspace: string;
  /** Home directories whose secrets are hidden. */
  readonly homes: readonly string[];
  /** Parent of the runtime directories of all daemons of this user; a shell has access to its own directory in it. */
  readonly runtimeParent: string;
  /** A directory of the daemon, which exists. */
  readonly directory: string;
  /** Further files and directories that are hidden in a sandbox: the daemon's state, configuration, keys, socket. */
  readonly hidden: readonly string[];
  /** Whether the profile `workspace` shares the machine's network. */
  readonly sharesNetwork: boolean;
  /** Whether the profile `strict` lets programs use Unix sockets. */
  readonly unixSockets: boolean;
  /** Paths below the workspace that cannot be written to. */
  readonly protectedPaths: readonly string[];
  /** Starts bubblewrap, and with it the program, as another user. */
  readonly user?: UserLaunch | undefined;
}

/** A program to start, in a sandbox or not. */
export interface Launch {
  readonly profile: SandboxProfile;
  /** Whether any resource limit applies to it. */
  readonly isLimited: boolean;
  /** Program, with its arguments. */
  readonly command: readonly string[];
  /** Its initial environment. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Directory of FIFOs and files through which the daemon communicates with it. The daemon opens files there with its
   * own privileges, so programs in a sandbox must not replace them by links: the directory is read-only, which does not
   * affect FIFOs.
   */
  readonly directory: string;
  /** Files in it that the program writes to. They are created here. */
  readonly ownFiles?: readonly string[];
  /** Initial working directory. */
  readonly cwd: string;
  /** Files for descriptors 0 to 2, and 3 if there is one, opened inside; undefined for a program on a terminal. */
  readonly descriptors?: readonly string[];
  /** A network of its own; without one it has the machine's or none, by its profile. */
  readonly network?: SandboxNetwork | undefined;
}

/** A program to start in a sandbox. */
export type SandboxLaunch = Omit<Launch, 'isLimited'> & { readonly profile: RealProfile };

/** Creates sandboxes with bubblewrap. */
export class Sandbox {
  readonly #options: SandboxOptions;
  readonly #workspace: string;
  readonly #empty: SandboxPlan['empty'];
  /** Seccomp filters that are written for each launch; undefined on processors for which there is none. */
  readonly #filters: Readonly<Record<'all' | 'internet', Uint8Array | undefined>>;
  readonly #systemPlaces = systemPlaces();
  readonly #repositories: Repositories;
  /** Patterns of what is hidden. */
  readonly #hidden: readonly string[];

  constructor(options: SandboxOptions) {
    this.#options = options;
    this.#workspace = realPath(options.workspace) ?? options.workspace;
    this.#repositories = new Repositories(this.#workspace);
    this.#hidden = [...credentialPatterns(options.homes, this.#workspace), ...options.hidden];
    this.#empty = { file: join(options.directory, 'empty-file'), directory: join(options.directory, 'empty') };
    this.#filters = {
      all: socketFilter(process.arch, { unixSockets: true }),
      internet: socketFilter(process.arch, { unixSockets: false }),
    };
  }

  /** Returns the command line that starts a program under its profile. */
  wrap(launch: SandboxLaunch): readonly string[] {
    const { program, user } = this.#options;
    this.#makeEmpty();
    const { profile, directory, ownFiles = [], env, descriptors, network } = launch;
    const isShared = this.sharesNetwork(launch);
    const filter = isShared ? undefined : this.#filterFor(profile);
    const guarded = this.#guarded();
    const plan: SandboxPlan = {
      profile,
      hasNetwork: isShared,
      isInOwnNetwork: network !== undefined,
      filterDescriptor: filter === undefined ? undefined : FILTER_DESCRIPTOR,
      places: [...this.#places(), ...guarded, ...directoryPlaces(directory, ownFiles, user?.user)],
      empty: this.#empty,
      variables: { ...sandboxVariables(withRealDirectory(env), this.#workspace), ...network?.variables },
      cwd: this.#workspace,
      isOnTerminal: descriptors === undefined,
    };
    const bubblewrap = [program, ...bubblewrapArguments(plan), ...this.#launched(launch, guarded)];
    return [
      ...(filter === undefined ? [] : [LAUNCH_SHELL, '-c', WITH_FILTER, 'sh', filter]),
      ...(network?.enter ?? []),
      // The filter is open, and the network entered: only root can do that for another user.
      ...(user ? user.wrap(bubblewrap, '/') : bubblewrap),
    ];
  }

  /**
   * Identifies what a sandbox that is started now protects in the workspace. One that was started before protects the same
   * if it has the same text: a repository may have come since, or a file been replaced, which removes its mount.
   */
  get protection(): string {
    return this.#guarded()
      .map(({ path, view }) => `${path} ${view} ${lstatSync(path, { throwIfNoEntry: false })?.ino}`)
      .join('\n');
  }

  #guarded(): readonly Place[] {
    return protectedPlaces(this.#workspace, this.#repositories.expand(this.#options.protectedPaths));
  }

  /** The command line inside. */
  #launched({ command, descriptors, cwd }: SandboxLaunch, guarded: readonly Place[]): readonly string[] {
    const script = launchScript({
      mounts: [this.#workspace, ...guarded.map(({ path }) => path)],
      descriptors,
      cwd: descriptors && cwd !== this.#options.workspace ? cwd : undefined,
    });
    return script === undefined ? command : [LAUNCH_SHELL, '-c', script, 'sh', ...command];
  }

  /** Whether such a program shares the machine's network. */
  sharesNetwork({ profile, network }: Pick<Launch, 'profile' | 'network'>): boolean {
    return this.#options.sharesNetwork && profile === 'workspace' && network === undefined;
  }

  /** Path of the seccomp filter of a sandbox that does not share the machine's network; written when it is missing. */
  #filterFor(profile: RealProfile): string | undefined {
    const name = profile === 'strict' && !this.#options.unixSockets ? 'internet' : 'all';
    const filter = this.#filters[name];
    if (!filter) return undefined;
    const path = join(this.#options.directory, `sockets-${name}.bpf`);
    if (!existsSync(path)) writeFileSync(path, filter, { mode: 0o444 });
    return path;
  }

  /** Checked for each launch: the daemon's directory may have been removed. */
  #makeEmpty(): void {
    const { file, directory } = this.#empty;
    if (existsSync(file)) return;
    mkdirSync(directory, { recursive: true, mode: 0o755 });
    writeFileSync(file, '', { mode: 0o444 });
  }

  /** What is covered so that its programs do not see it, as it exists now: more may appear at any time. */
  covers(): readonly Place[] {
    const { user } = this.#options;
    const all = hidden(credentialPaths(this.#hidden));
    // bubblewrap with the rights of another user cannot cover what that user cannot get to.
    return coversOf(user ? all.filter(({ path }) => user.canReach(path)) : all, this.#workspace);
  }

  /**
   * The names whose appearance may change them, links on the way included. What is in /tmp is left out: a sandbox has
   * its own, and that of the machine changes all the time.
   */
  watchedNames(): WatchedNames {
    const paths = [...this.#hidden, ...this.covers().map(({ path }) => path)];
    const own = this.#systemPlaces.filter(({ view }) => view === 'temporary' || view === 'frame');
    const isReplaced = (path: string) => own.some((place) => isWithin(path, place.path));
    return watchedNames(paths.filter((path) => isWithin(path, this.#workspace) || !isReplaced(path)));
  }

  /** Computed for each launch. */
  #places(): readonly Place[] {
    const { runtimeParent } = this.#options;
    const places: readonly Place[] = [
      ...this.#systemPlaces,
      { path: this.#workspace, view: 'writable' },
      { path: realPath(runtimeParent) ?? runtimeParent, view: 'frame' },
      { path: realPath(DRIVERS_DIRECTORY) ?? DRIVERS_DIRECTORY, view: 'read-only' },
      ...this.covers(),
    ];
    // bubblewrap cannot create a mount point for a workspace below a read-only empty directory.
    const seen = places.map((place): Place => {
      const isAround = place.view === 'empty-directory' && this.#workspace.startsWith(`${place.path}/`);
      return isAround ? { path: place.path, view: 'frame' } : place;
    });
    return [...seen, ...linksOnTheWay(this.#options.workspace, seen)];
  }
}

/** Returns the environment with the real path of TMPDIR. */
const withRealDirectory = ({ TMPDIR, ...env }: Launch['env']): Launch['env'] =>
  TMPDIR === undefined ? env : { ...env, TMPDIR: realPath(TMPDIR) ?? TMPDIR };

function directoryPlaces(directory: string, ownFiles: readonly string[], owner?: FileOwner): readonly Place[] {
  const path = realPath(directory) ?? directory;
  const files = ownFiles.map((name): Place => ({ path: join(path, name), view: 'writable' }));
  for (const file of files) writeFileFor(owner, file.path, '');
  return [{ path, view: 'read-only' }, ...files];
}

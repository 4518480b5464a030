import { existsSync, lstatSync, mkdirSync, readdirSync, realpathSync, type Stats, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { mayMatch } from '../../core/policy/paths.js';
import {
  bubblewrapArguments,
  coversOf,
  isWithin,
  launchScript,
  type Place,
  type SandboxPlan,
  sandboxVariables,
  type View,
} from '../../core/sandbox.js';
import type { RealProfile, SandboxProfile } from '../../core/sandbox-profiles.js';
import { socketFilter } from '../../core/socket-filter.js';
import { CREDENTIAL_PLACES, PUBLIC_NAMES } from '../../core/secrets.js';
import { DRIVERS_DIRECTORY } from '../shells/list.js';
import { isDirectory, statOf } from '../system/local-files.js';
import { type FileOwner, writeFileFor } from '../system/own-user.js';
import { LAUNCH_SHELL, type UserLaunch } from './user-launch.js';
import type { SandboxNetwork } from './sandbox-networks.js';

/** Directories, and the patterns of the names in each that matter. */
export type WatchedNames = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * The names whose appearance or replacement may put a file at one of these paths: those of the files themselves and of
 * the directories above them, in every directory that exists, except the root directory.
 * @param patterns absolute; `*` stands for any characters of a name, `/**` for everything below a directory
 */
export function watchedNames(patterns: readonly string[]): WatchedNames {
  const watched = new Map<string, Set<string>>();
  const walk = (directory: string, [name, ...rest]: readonly string[]): void => {
    if (name === undefined || name === '**') return;
    if (directory !== '/') {
      const names = watched.get(directory) ?? new Set();
      watched.set(directory, names.add(name));
    }
    if (rest.length === 0) return;
    const entries = name.includes('*') ? namesIn(directory).filter((entry) => mayMatch(name, entry)) : [name];
    for (const entry of entries) {
      const path = join(directory, entry);
      if (isDirectory(path)) walk(path, rest);
    }
  };
  for (const pattern of patterns) walk('/', pattern.split('/').slice(1));
  return watched;
}

/** Whether an event for a path concerns one of the names. */
export function isWatched(watched: WatchedNames, path: string): boolean {
  const name = basename(path);
  return [...(watched.get(dirname(path)) ?? [])].some((pattern) => mayMatch(pattern, name));
}

/** Write permission bits of a mode. */
const WRITE_BITS = 0o222;

/** Returns the system's part of a sandbox: its own /dev, /proc and /tmp, and no sockets of services. */
function systemPlaces(): readonly Place[] {
  const places: readonly Place[] = [
    { path: '/dev', view: 'devices' },
    { path: '/dev/shm', view: 'shared-memory' },
    { path: '/proc', view: 'processes' },
    ...kernelSettings(),
    { path: '/tmp', view: 'temporary' },
    { path: '/var/tmp', view: 'temporary' },
    // Sockets of services that act with root privileges: Docker, D-Bus, systemd.
    { path: '/run', view: 'frame' },
    ...nameServers(),
  ];
  // On some systems, some of them are links to others.
  return places.filter(({ path }) => realPath(path) === path);
}

/**
 * Returns the entries of /proc that belong to no process: root may write to them without any capability. /proc/sys for
 * example names the program that the kernel runs, outside of every sandbox, when a process dumps core.
 */
function kernelSettings(): readonly Place[] {
  // Without `withFileTypes`: it fails for a process that has ended since its name was read.
  const names = readdirSync('/proc').filter((name) => !/^\d+$/.test(name));
  const isChangeable = (path: string): boolean => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat !== undefined && (stat.isDirectory() || (stat.isFile() && (stat.mode & WRITE_BITS) !== 0));
  };
  return names
    .map((name) => join('/proc', name))
    .filter(isChangeable)
    .map((path) => ({ path, view: 'read-only' }));
}

/** Returns /etc/resolv.conf's target: it often is a link to a file in /run. */
function nameServers(): readonly Place[] {
  const path = realPath('/etc/resolv.conf');
  return path?.startsWith('/run/') ? [{ path, view: 'read-only' }] : [];
}

/** Returns places that hide those of these paths that exist. */
function hidden(paths: readonly string[]): readonly Place[] {
  return paths.flatMap((path): Place[] => {
    const real = realPath(path);
    if (real === undefined) return [];
    return [{ path: real, view: isDirectory(real) ? 'empty-directory' : 'empty-file' }];
  });
}

/** Resolves all links of a path; undefined when it does not exist. */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    // ENOENT: missing. EACCES: inaccessible for the daemon, and for the programs it starts.
    return undefined;
  }
}

/** Directories that are empty inside the sandbox, and can be filled before the program starts. */
const FILLABLE: ReadonlySet<View> = new Set<View>(['temporary', 'frame']);

/**
 * Returns links on the path to a directory that are hidden by a directory of the sandbox: a workspace may be named by a
 * link in /tmp, which would be missing inside.
 * @param places visible in the sandbox
 */
function linksOnTheWay(path: string, places: readonly Place[]): readonly Place[] {
  const isLost = (link: string) => places.some((place) => FILLABLE.has(place.view) && isWithin(link, place.path));
  const links: Place[] = [];
  let real = '/';
  for (const name of path.split('/').filter((part) => part !== '')) {
    const next = join(real, name);
    const target = realPath(next);
    if (target === undefined) return links;
    const isLink = lstatSync(next, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
    if (isLink && isLost(next)) links.push({ path: next, view: 'link', target });
    real = target;
  }
  return links;
}

const PATTERNS = CREDENTIAL_PLACES.flatMap(({ paths }) => paths);
/** Names in any directory; they are looked for directly in home directories. */
const NAMES = PATTERNS.filter((pattern) => !pattern.includes('/'));

/**
 * Returns patterns of the files and directories with credentials in these home directories and of the machine. Names
 * that are listed for any directory are meant at the top of a home directory, unless it is or contains the workspace:
 * its programs need their own files.
 * @returns absolute; `*` stands for any characters of a name, `/**` for everything below a directory
 */
export function credentialPatterns(homes: readonly string[], workspace: string): readonly string[] {
  const places = PATTERNS.flatMap((pattern) => {
    if (pattern.startsWith('~/')) return homes.map((home) => join(home, pattern.slice(2)));
    return pattern.startsWith('/') && !pattern.startsWith('/**') ? [pattern] : [];
  });
  const isElsewhere = (home: string) => home !== workspace && !workspace.startsWith(`${home}/`);
  const named = homes.filter(isElsewhere).flatMap((home) => NAMES.map((name) => join(home, name)));
  return [...new Set([...places, ...named])];
}

/** Returns the paths of these patterns, which may not exist where the pattern is a path itself. */
export function credentialPaths(patterns: readonly string[]): readonly string[] {
  const known = new Map<string, readonly string[]>();
  const namesOf = (directory: string): readonly string[] => {
    const names = known.get(directory) ?? namesIn(directory);
    known.set(directory, names);
    return names;
  };
  return [...new Set(patterns.flatMap((pattern) => expand(pattern, namesOf)))];
}

/** Lists the names in a directory. */
type NamesOf = (directory: string) => readonly string[];

/** The paths for which a pattern stands: all below a directory is the directory itself. Public ones are left out. */
function expand(pattern: string, namesOf: NamesOf): readonly string[] {
  const [whole = pattern] = pattern.split('/**', 1);
  if (!whole.includes('*')) return [whole];
  const [directory, last] = [dirname(whole), basename(whole)];
  const parents = directory.includes('*') ? expand(directory, namesOf) : [directory];
  const isPublic = (name: string) => PUBLIC_NAMES.some((known) => mayMatch(known, name));
  const isMeant = (name: string) => mayMatch(last, name) && !isPublic(name);
  return parents.flatMap((parent) => {
    const names = namesOf(parent).filter(isMeant);
    return names.map((name) => join(parent, name));
  });
}

/** Returns the names in a directory; none when it cannot be read. */
function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    // ENOENT: missing. EACCES: inaccessible for the programs in the sandbox, too.
    return [];
  }
}

/**
 * Returns read-only mounts for the protected paths of a workspace. The directories above each are bind-mounted onto
 * themselves: otherwise they could be renamed, and replaced. A missing path is created where its directory exists,
 * because a missing path cannot be a mount point; it has the content that means nothing to its reader. A path through a
 * link is left out.
 * @param paths relative to the workspace; a directory that may have to be created ends in `/`
 */
export function protectedPlaces(workspace: string, paths: readonly string[]): readonly Place[] {
  const places = new Map<string, Place>();
  for (const path of paths) {
    for (const place of placesOf(workspace, path)) {
      if (place.view === 'read-only' || !places.has(place.path)) places.set(place.path, place);
    }
  }
  return [...places.values()];
}

function placesOf(workspace: string, path: string): readonly Place[] {
  const names = path.split('/').filter((name) => name !== '');
  const parents = names.slice(0, -1).map((_, index) => join(workspace, ...names.slice(0, index + 1)));
  if (!parents.every((parent) => stat(parent)?.isDirectory())) return [];
  const end = join(workspace, ...names);
  const found = stat(end) ?? make(end, path.endsWith('/'));
  if (!found || !(found.isFile() || found.isDirectory())) return [];
  return [...parents.map((parent): Place => ({ path: parent, view: 'writable' })), { path: end, view: 'read-only' }];
}

function make(path: string, isDirectory: boolean): Stats | undefined {
  try {
    if (isDirectory) mkdirSync(path);
    else writeFileSync(path, contentOfMissing(path), { flag: 'wx' });
  } catch {
    // EEXIST: another session has just created it. EACCES, EROFS: no process in the sandbox can create it either.
  }
  return stat(path);
}

/**
 * git refuses an empty `commondir`; `.` is the directory itself, as without the file.
 * Source: https://git-scm.com/docs/gitrepository-layout
 */
const contentOfMissing = (path: string): string => (basename(path) === 'commondir' ? '.\n' : '');

const stat = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false });

/** Directories that are looked through for repositories, at most: some milliseconds. */
const MAX_DIRECTORIES = 512;
/** Levels below the workspace at which a repository is found. */
const MAX_DEPTH = 4;
/** Git directories that are protected, at most: each takes some mounts. */
const MAX_GIT_DIRECTORIES = 32;
/** Directories with many others and no repository of the user's. */
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', '.venv', '__pycache__']);
/**
 * A directory that changed this shortly before it was read, in milliseconds, may change again without a new time: the
 * kernel's clock of files advances by up to 10 ms at once.
 */
const UNSETTLED_MS = 100;
/** Prefix of the paths that apply to each repository. */
const OF_GIT = '.git/';
/** Files of a linked worktree or a submodule that lead git to its configuration. */
const LINKS = ['commondir', 'gitdir', 'config.worktree'];

/** Finds the repositories in a workspace, for the paths that are protected in each of them. */
export class Repositories {
  readonly #workspace: string;
  #last: Search | undefined;

  /** @param workspace real path */
  constructor(workspace: string) {
    this.#workspace = workspace;
  }

  /**
   * Returns paths of a configuration, and those below `.git/` for the other repositories: nested ones at most 4 levels
   * deep, submodules and linked worktrees. A `.git` that is a file is protected itself, since it names the repository.
   * Repositories beyond 512 directories or 32 repositories are not found. The workspace is searched again only when one
   * of the directories that were looked at has changed.
   * @param paths relative to the workspace; a directory ends in `/`
   */
  expand(paths: readonly string[]): readonly string[] {
    const ofGit = paths.filter((path) => path.startsWith(OF_GIT)).map((path) => path.slice(OF_GIT.length));
    if (ofGit.length === 0) return paths;
    if (!this.#last?.isCurrent) this.#last = new Search(this.#workspace, ofGit);
    return [...new Set([...paths, ...this.#last.found.slice(0, MAX_GIT_DIRECTORIES * ofGit.length)])];
  }
}

/** One search for repositories, with the directories that it has looked at. */
class Search {
  /** The paths to protect in all repositories below the workspace. */
  readonly found: readonly string[];
  readonly #workspace: string;
  readonly #ofGit: readonly string[];
  readonly #startedAt = Date.now();
  /** The state of each directory, also of missing ones, just before it was read. */
  readonly #stamps = new Map<string, string>();
  #isSettled = true;

  constructor(workspace: string, ofGit: readonly string[]) {
    this.#workspace = workspace;
    this.#ofGit = ofGit;
    this.found = this.#find();
  }

  /** Whether another search would find the same. */
  get isCurrent(): boolean {
    if (!this.#isSettled) return false;
    return [...this.#stamps].every(([path, stamp]) => stampOf(statOf(join(this.#workspace, path))) === stamp);
  }

  #find(): readonly string[] {
    const found: string[] = [];
    const queue: { readonly path: string; readonly depth: number }[] = [{ path: '', depth: 0 }];
    for (let at = 0; at < queue.length && at < MAX_DIRECTORIES; at++) {
      const { path, depth } = queue[at] ?? { path: '', depth: MAX_DEPTH };
      for (const entry of this.#entriesOf(path)) {
        const inner = path === '' ? entry.name : `${path}/${entry.name}`;
        if (entry.name === '.git') found.push(...this.#pathsOfRepository(inner, entry.isFile()));
        else if (entry.isDirectory() && depth < MAX_DEPTH && !SKIPPED.has(entry.name)) {
          queue.push({ path: inner, depth: depth + 1 });
        }
      }
    }
    return found;
  }

  #pathsOfRepository(git: string, isFile: boolean): string[] {
    if (isFile) return [git];
    const links = this.#directoriesIn(`${git}/worktrees`).flatMap((path) => LINKS.map((name) => `${path}/${name}`));
    return [
      ...[git, ...this.#submodulesOf(git)].flatMap((directory) => this.#ofGit.map((path) => `${directory}/${path}`)),
      ...links.filter((path) => this.#exists(path)),
    ];
  }

  /** The git directories of submodules, whose names may have slashes, and of theirs. */
  #submodulesOf(git: string, depth = 0): readonly string[] {
    return this.#directoriesIn(depth === 0 ? `${git}/modules` : git).flatMap((directory) => {
      if (this.#exists(`${directory}/HEAD`)) return [directory, ...this.#submodulesOf(directory)];
      return depth < MAX_DEPTH ? this.#submodulesOf(directory, depth + 1) : [];
    });
  }

  #directoriesIn(path: string): readonly string[] {
    const directories = this.#entriesOf(path).filter((entry) => entry.isDirectory());
    return directories.map(({ name }) => `${path}/${name}`);
  }

  #exists(path: string): boolean {
    this.#lookAt(dirname(path));
    return statOf(join(this.#workspace, path)) !== undefined;
  }

  #entriesOf(path: string) {
    this.#lookAt(path);
    try {
      return readdirSync(join(this.#workspace, path), { withFileTypes: true });
    } catch {
      // ENOENT, ENOTDIR: there is none. EACCES: programs in the sandbox have no more rights than the daemon.
      return [];
    }
  }

  #lookAt(path: string): void {
    if (this.#stamps.has(path)) return;
    const stat = statOf(join(this.#workspace, path));
    if (stat && stat.ctimeMs > this.#startedAt - UNSETTLED_MS) this.#isSettled = false;
    this.#stamps.set(path, stampOf(stat));
  }
}

/** A program cannot set the time of a change back, as it can that of a modification. */
const stampOf = (stat: Stats | undefined): string => (stat ? `${stat.dev} ${stat.ino} ${stat.ctimeMs}` : '');

/** Descriptor of the seccomp filter: the highest that every shell can open. */
const FILTER_DESCRIPTOR = 9;
/** Opens the filter in its first argument for the program that follows: terminals and pipes pass no descriptor on. */
const WITH_FILTER = `exec ${FILTER_DESCRIPTOR}<"$1"; shift; exec "$@"`;

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

/** What decides in which way a program is started. */
export interface LaunchKind {
  readonly profile: SandboxProfile;
  /** Whether any resource limit applies to it. */
  readonly isLimited: boolean;
}

/** A program to start, in a sandbox or not. */
export interface Launch extends LaunchKind {
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
type SandboxLaunch = Omit<Launch, 'isLimited'> & { readonly profile: RealProfile };

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

/**
 * Error of bubblewrap when a path to hide was removed after it had been listed, such as `/etc/shadow.lock` while a user is
 * created.
 */
const PLACE_GONE = /bwrap: Can't (create file at|mkdir|find source path|bind mount) /;

/** Whether another attempt may succeed after this error output: it lists the paths again. */
export const isPlaceGone = (complaint: string): boolean => PLACE_GONE.test(complaint);

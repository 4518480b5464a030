import type { RealProfile } from './profiles.js';
import type { SandboxVariables } from './variables.js';

const MIB = 1024 * 1024;

/**
 * Size limit of each in-memory file system of a sandbox, in bytes. The kernel's default would be half of the machine's
 * memory.
 */
const TEMPORARY_BYTES = 512 * MIB;
const SHARED_MEMORY_BYTES = 64 * MIB;
/** Size limit of directories that only contain mount points. */
const FRAME_BYTES = MIB;

/**
 * What a sandbox sees at a path, instead of the machine's files read-only.
 *
 * - `writable`, `read-only`: the original content
 * - `temporary`: an empty directory in memory, writable for all users
 * - `shared-memory`: the same, for shm_open(3)
 * - `frame`: an empty read-only directory, in which other places may lie
 * - `empty-file`, `empty-directory`: the original content is hidden
 * - `devices`, `processes`: a separate /dev and /proc
 * - `link`: a symbolic link, in a directory that is empty otherwise
 */
export type View =
  | 'writable'
  | 'read-only'
  | 'temporary'
  | 'shared-memory'
  | 'frame'
  | 'empty-file'
  | 'empty-directory'
  | 'devices'
  | 'processes'
  | 'link';

/** An absolute path without symbolic links, and its view in the sandbox. */
export interface Place {
  readonly path: string;
  readonly view: View;
  /** Target of a `link`. */
  readonly target?: string;
}

/** Configuration of one sandbox. */
export interface SandboxPlan {
  readonly profile: RealProfile;
  /** Whether it shares the machine's network. Never true with `strict`. */
  readonly hasNetwork: boolean;
  /**
   * Whether bubblewrap is started in a network namespace of the sandbox's own, which it keeps.
   * @default false
   */
  readonly isInOwnNetwork?: boolean;
  /** For duplicate paths, the later entry applies. */
  readonly places: readonly Place[];
  /** An empty file and an empty directory, used as mount sources. */
  readonly empty: { readonly file: string; readonly directory: string };
  readonly variables: SandboxVariables;
  /** Directory in which the program starts. */
  readonly cwd: string;
  /** Descriptor from which bubblewrap reads a seccomp filter; undefined without one. */
  readonly filterDescriptor?: number | undefined;
  /** Whether it has a terminal. It then has to stay in the terminal's session, which job control needs. */
  readonly isOnTerminal: boolean;
}

const depthOf = (path: string): number => path.split('/').filter((name) => name !== '').length;

/** Arguments of bubblewrap, up to the command. Source: bwrap(1), 0.8. */
export function bubblewrapArguments(plan: SandboxPlan): readonly string[] {
  // A place inside another one is mounted over it, so it must come later.
  const places = [...plan.places].sort((a, b) => depthOf(a.path) - depthOf(b.path));
  const sealed = places.filter(({ view }) => view === 'frame' || view === 'devices');
  return [
    ...['--ro-bind', '/', '/'],
    ...places.flatMap((place) => MOUNTS[place.view](place, plan.empty)),
    ...sealed.flatMap(({ path }) => ['--remount-ro', path]),
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--die-with-parent', '--cap-drop', 'ALL'],
    ...(keepsNetwork(plan) ? [] : ['--unshare-net']),
    ...(plan.filterDescriptor === undefined ? [] : ['--seccomp', String(plan.filterDescriptor)]),
    // Without user namespaces inside the sandbox, most kernel vulnerabilities are out of reach.
    ...(plan.profile === 'strict' ? ['--unshare-user', '--disable-userns'] : []),
    ...(plan.isOnTerminal ? [] : ['--new-session']),
    ...Object.entries(plan.variables).flatMap(variable),
    ...['--chdir', plan.cwd, '--'],
  ];
}

const keepsNetwork = ({ hasNetwork, isInOwnNetwork = false, profile }: SandboxPlan): boolean =>
  isInOwnNetwork || (hasNetwork && profile !== 'strict');

const variable = ([name, value]: [string, string | undefined]): readonly string[] =>
  value === undefined ? ['--unsetenv', name] : ['--setenv', name, value];

/** Arguments that give a place its view. */
type Mount = (place: Place, empty: SandboxPlan['empty']) => readonly string[];

const MOUNTS: Readonly<Record<View, Mount>> = {
  writable: ({ path }) => ['--bind', path, path],
  'read-only': ({ path }) => ['--ro-bind', path, path],
  temporary: ({ path }) => memory(path, TEMPORARY_BYTES, '1777'),
  'shared-memory': ({ path }) => memory(path, SHARED_MEMORY_BYTES, '1777'),
  frame: ({ path }) => memory(path, FRAME_BYTES, '0755'),
  'empty-file': ({ path }, empty) => ['--ro-bind', empty.file, path],
  'empty-directory': ({ path }, empty) => ['--ro-bind', empty.directory, path],
  devices: ({ path }) => ['--dev', path],
  processes: ({ path }) => ['--proc', path],
  link: ({ path, target = '' }) => ['--symlink', target, path],
};

const memory = (path: string, bytes: number, mode: string): readonly string[] => [
  ...['--perms', mode, '--size', String(bytes)],
  ...['--tmpfs', path],
];

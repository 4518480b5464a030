import type { RealProfile } from './profiles.js';
import type { SandboxVariables } from './variables.js';

const MIB = 1024 * 1024;

/** Most that a sandbox may keep in memory as files, in each place: without a size it would be half of the machine's. */
const TEMPORARY_BYTES = 512 * MIB;
const SHARED_MEMORY_BYTES = 64 * MIB;
/** For directories that only hold the mount points of others. */
const FRAME_BYTES = MIB;

/**
 * What a sandbox sees at a path, instead of the machine's files read-only.
 *
 * - `writable`, `read-only`: what is there
 * - `temporary`: an empty directory for everybody, in memory
 * - `shared-memory`: the same, for shm_open(3)
 * - `frame`: an empty directory that nobody can write to, in which other places may lie
 * - `empty-file`, `empty-directory`: what is there is hidden
 * - `devices`, `processes`: a /dev and /proc of its own
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

/** A path, absolute and without links, and what is seen there. */
export interface Place {
  readonly path: string;
  readonly view: View;
  /** Where a link leads. */
  readonly target?: string;
}

/** What a sandbox is made of. */
export interface SandboxPlan {
  readonly profile: RealProfile;
  /** Whether it shares the machine's network. Never so with `strict`. */
  readonly hasNetwork: boolean;
  /** Of two for the same path the later one holds. */
  readonly places: readonly Place[];
  /** An empty file and an empty directory to show. */
  readonly empty: { readonly file: string; readonly directory: string };
  readonly variables: SandboxVariables;
  /** Where the program starts. */
  readonly cwd: string;
  /** Whether it has a terminal, whose session it has to stay in: job control needs that. */
  readonly isOnTerminal: boolean;
}

const depthOf = (path: string): number => path.split('/').filter((name) => name !== '').length;

/** Arguments of bubblewrap, up to the command. Source: bwrap(1), 0.8. */
export function bubblewrapArguments(plan: SandboxPlan): readonly string[] {
  // What lies in another place is laid over it, so it comes after.
  const places = [...plan.places].sort((a, b) => depthOf(a.path) - depthOf(b.path));
  const sealed = places.filter(({ view }) => view === 'frame' || view === 'devices');
  return [
    ...['--ro-bind', '/', '/'],
    ...places.flatMap((place) => mount(place, plan.empty)),
    ...sealed.flatMap(({ path }) => ['--remount-ro', path]),
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--die-with-parent', '--cap-drop', 'ALL'],
    ...(plan.hasNetwork && plan.profile !== 'strict' ? [] : ['--unshare-net']),
    // Without user namespaces of its own, most of the kernel's holes are out of reach.
    ...(plan.profile === 'strict' ? ['--unshare-user', '--disable-userns'] : []),
    ...(plan.isOnTerminal ? [] : ['--new-session']),
    ...Object.entries(plan.variables).flatMap(variable),
    ...['--chdir', plan.cwd, '--'],
  ];
}

const variable = ([name, value]: [string, string | undefined]): readonly string[] =>
  value === undefined ? ['--unsetenv', name] : ['--setenv', name, value];

function mount({ path, view, target = '' }: Place, empty: SandboxPlan['empty']): readonly string[] {
  switch (view) {
    case 'writable':
      return ['--bind', path, path];
    case 'read-only':
      return ['--ro-bind', path, path];
    case 'temporary':
      return memory(path, TEMPORARY_BYTES, '1777');
    case 'shared-memory':
      return memory(path, SHARED_MEMORY_BYTES, '1777');
    case 'frame':
      return memory(path, FRAME_BYTES, '0755');
    case 'empty-file':
      return ['--ro-bind', empty.file, path];
    case 'empty-directory':
      return ['--ro-bind', empty.directory, path];
    case 'devices':
      return ['--dev', path];
    case 'processes':
      return ['--proc', path];
    case 'link':
      return ['--symlink', target, path];
  }
}

const memory = (path: string, bytes: number, mode: string): readonly string[] => [
  ...['--perms', mode, '--size', String(bytes)],
  ...['--tmpfs', path],
];

import { AdapterError } from './errors.js';
import {
  SANDBOX_PROFILES,
  type SandboxProfile,
  type RealProfile,
  profilesFrom,
  profilesBelow,
} from './sandbox-profiles.js';

/** Directories in which every sandbox can create files. */
const TEMPORARY_DIRECTORIES: readonly string[] = ['/tmp', '/var/tmp', '/dev/shm'];

/** Environment variables whose value is invalid in a sandbox, with the replacement; undefined removes the variable. */
type SandboxVariables = Readonly<Record<string, string | undefined>>;

/**
 * Programs rely on the directory in TMPDIR: if it is missing or read-only, mktemp(1) and all programs that use it fail.
 * The directory in XDG_RUNTIME_DIR is empty, which programs handle only when the variable is unset.
 * @param workspace without links on the way to it, as is TMPDIR
 */
export function sandboxVariables(env: Readonly<Record<string, string>>, workspace: string): SandboxVariables {
  const { TMPDIR: directory, XDG_RUNTIME_DIR: runtime } = env;
  const isThere = (path: string) =>
    TEMPORARY_DIRECTORIES.includes(path) || path === workspace || path.startsWith(`${workspace}/`);
  return {
    ...(directory !== undefined && !isThere(directory) && { TMPDIR: '/tmp' }),
    ...(runtime !== undefined && { XDG_RUNTIME_DIR: undefined }),
  };
}

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

/** Whether a path lies in a directory, at any depth; both without links. */
export const isWithin = (path: string, directory: string): boolean => path.startsWith(`${directory}/`);

/**
 * The mounts that are needed so that these places are hidden and stay hidden.
 *
 * - A place within another hidden directory is omitted: it does not exist there, so it needs no mount and cannot have
 * one. Exception: places in the workspace, which shows through the directories around it.
 * - Directories of the workspace on the way to a place are mounted onto themselves: otherwise they could be renamed,
 * and the next sandbox would not find the place.
 * @param hidden all of them without links, as is the workspace
 */
export function coversOf(hidden: readonly Place[], workspace: string): readonly Place[] {
  const showsThrough = (path: string, directory: string) => isWithin(workspace, directory) && isWithin(path, workspace);
  const covers = hidden.filter(({ path }) => {
    return !hidden.some((other) => isWithin(path, other.path) && !showsThrough(path, other.path));
  });
  return [...covers.flatMap(({ path }) => parentMounts(path, workspace)), ...covers];
}

function parentMounts(path: string, workspace: string): readonly Place[] {
  if (!isWithin(path, workspace)) return [];
  const names = path.slice(workspace.length + 1).split('/');
  return names.slice(1).map((_, index) => ({
    path: [workspace, ...names.slice(0, index + 1)].join('/'),
    view: 'writable',
  }));
}

/** Reasons why profiles do not work on this machine; a working profile has no entry. */
export type SandboxProblems = Readonly<Partial<Record<RealProfile, string>>>;

export interface SandboxStatus {
  readonly configured: SandboxProfile;
  /** Profile in which shells start, unless a client asks for a stricter one. */
  readonly profile: SandboxProfile;
  /** Profiles that work on this machine. */
  readonly available: readonly SandboxProfile[];
  /** Reason why `profile` is weaker than the configured one; undefined when it is not. */
  readonly reason: string | undefined;
  readonly problems: SandboxProblems;
}

/** Selects the configured profile, or falls back to the next one that works. */
export function resolveSandboxStatus(configured: SandboxProfile, problems: SandboxProblems): SandboxStatus {
  const works = (profile: SandboxProfile) => profile === 'none' || problems[profile] === undefined;
  const profile = [configured, ...profilesBelow(configured)].find(works) ?? 'none';
  const reason = configured === 'none' ? undefined : problems[configured];
  return { configured, profile, available: SANDBOX_PROFILES.filter(works), reason, problems };
}

/**
 * Selects the profile for a client: the requested one, unless it is less strict than the daemon's own.
 * @throws AdapterError INVALID_REQUEST, SANDBOX_UNAVAILABLE
 */
export function chooseProfile(wanted: SandboxProfile | undefined, status: SandboxStatus): SandboxProfile {
  if (wanted === undefined) return status.profile;
  const allowed = profilesFrom(status.profile);
  if (!allowed.includes(wanted)) {
    throw new AdapterError(
      'INVALID_REQUEST',
      `sandbox ${wanted} is less strict than what is configured (sandbox.profile); allowed: ${allowed.join(', ')}`,
      { details: { field: 'sandbox', allowed } },
    );
  }
  if (status.available.includes(wanted) || wanted === 'none') return wanted;
  throw new AdapterError(
    'SANDBOX_UNAVAILABLE',
    `the sandbox profile ${wanted} does not work on this machine: ${status.problems[wanted] ?? 'it was not tested'}`,
    { details: { available: status.available } },
  );
}

/** Steps to perform in a sandbox before its program starts. */
interface LaunchSteps {
  /** The workspace first, then the protected paths below it, each of which is mounted onto itself. */
  readonly mounts: readonly string[];
  /** Files for file descriptors 0 to 2, and optionally 3; undefined to keep the existing ones. */
  readonly descriptors: readonly string[] | undefined;
  /** Working directory of a program without a terminal. */
  readonly cwd: string | undefined;
}

/** Exit code of a launch in which a mount does not show the expected place: EX_OSFILE of sysexits.h. */
export const WRONG_MOUNT = 72;

/** Text for `sh -c TEXT sh PROGRAM ARGUMENTS`; undefined when no step is needed. */
export function launchScript({ mounts, descriptors, cwd }: LaunchSteps): string | undefined {
  const steps: string[] = [];
  if (mounts.length > 1) steps.push(checkMounts(mounts));
  if (descriptors) {
    const [stdin = '', stdout = '', stderr = '', request] = descriptors.map(quote);
    steps.push(`exec <${stdin} >${stdout} 2>${stderr}${request === undefined ? '' : ` 3<${request}`}`);
  }
  if (cwd !== undefined) steps.push(`cd -- ${quote(cwd)} || exit 126`);
  return steps.length === 0 ? undefined : [...steps, 'unset OLDPWD', REPORT_MISSING, 'exec "$@"'].join('\n');
}

/**
 * Reports a missing program in the words of a shell. dash's exec calls one "Permission denied" (126) when a folder of PATH
 * may not be searched.
 */
export const REPORT_MISSING =
  'case $1 in */*) ;; *) [ -n "$(command -v -- "$1")" ] || { printf "%s: command not found\\n" "$1" >&2; exit 127; } ;; esac';

/**
 * A protected path may have been replaced by a link just before it was mounted, which mount(2) follows. The kernel's
 * mount table shows what was actually mounted: proc(5), mountinfo.
 */
function checkMounts([workspace = '', ...others]: readonly string[]): string {
  const protectedPaths = others.map((path) => quote(escaped(path))).join('|');
  return [
    'while read -r _ _ __dev __root __point _; do case $__point in',
    `${quote(escaped(workspace))}) __base=\${__root%/} __disk=$__dev ;;`,
    `${protectedPaths}) [ "$__dev$__root" = "$__disk$__base\${__point#${quote(escaped(workspace))}}" ] ||`,
    `{ printf 'the protected path %s was replaced while the sandbox was made\\n' "$__point" >&2; exit ${WRONG_MOUNT}; } ;;`,
    'esac; done </proc/self/mountinfo',
    'unset __dev __root __point __base __disk',
  ].join('\n');
}

/** A path in the kernel's escaped form. */
const escaped = (path: string): string =>
  path.replace(/[\\ \t\n]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`);

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

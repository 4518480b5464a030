import { CREDENTIAL_PLACES, PUBLIC_NAMES } from '../secrets.js';
import type { Directory, PolicyFacts } from './model.js';
import {
  type ComparedPath,
  comparePath,
  compilePatterns,
  containsListed,
  isHolder,
  isListed,
  type PathTable,
} from './path-patterns.js';
import { baseName, isWithin, mayMatch } from './paths.js';

/**
 * Patterns of paths: `~` is the home directory, `**` any depth, `*` any name. A pattern without a slash applies in any
 * directory.
 */
export type PathPatterns = readonly string[];

/** Files that run later, or that determine what runs later. Those of programs are in their families. */
const STARTUP_PATHS: PathPatterns = [
  ...['.xinitrc', '.xprofile', '.xsessionrc', '.pam_environment'],
  '~/.local/bin/**',
  // Objects of git come from the places that it names.
  '/**/objects/info/alternates',
  '~/bin/**',
  '~/.config/autostart/**',
  '~/.local/share/applications/**',
];

/** Files on which the whole machine depends. */
const SYSTEM_PATHS: PathPatterns = [
  '/etc/**',
  '/usr/**',
  '/bin/**',
  '/sbin/**',
  '/lib/**',
  '/lib32/**',
  '/lib64/**',
  '/libx32/**',
  '/boot/**',
  '/opt/**',
  '/var/spool/**',
  '/var/lib/**',
  '/var/log/**',
  '/run/**',
  '/proc/**',
  '/sys/**',
  '/Library/**',
  '/System/**',
];

/** Files that contain credentials, or the memory of processes. */
const SECRET_PATHS: PathPatterns = [
  ...CREDENTIAL_PLACES.flatMap(({ paths }) => paths),
  ...['/proc/*/environ', '/proc/*/mem', '/proc/kcore', '/dev/mem', '/dev/kmem', '/dev/input/**'],
];

/** Directories without which the machine or the home directory is unusable. `~` is one of them. */
const CRITICAL_DIRECTORIES: PathPatterns = [
  ...['/', '/bin', '/boot', '/dev', '/etc', '/home', '/lib', '/lib32', '/lib64', '/libx32', '/media', '/mnt', '/opt'],
  ...['/proc', '/root', '/run', '/sbin', '/srv', '/sys', '/usr', '/usr/bin', '/usr/lib', '/usr/local', '/usr/sbin'],
  ...['/var', '/var/lib', '/Applications', '/Library', '/System', '/Users', '~'],
];

/** Devices that may be written to: they store nothing, or belong to the terminal. */
const HARMLESS_DEVICES: PathPatterns = [
  ...['/dev/null', '/dev/zero', '/dev/full', '/dev/stdin', '/dev/stdout', '/dev/stderr', '/dev/tty', '/dev/ptmx'],
  ...['/dev/random', '/dev/urandom', '/dev/fd/*'],
  // The open files of a process were judged when it opened them.
  ...['/proc/self/fd/*', '/proc/self/fd/**'],
];

/** Paths that bash opens as network connections. */
const NETWORK_PATHS: PathPatterns = ['/dev/tcp/**', '/dev/udp/**'];

/** The kind of place that is written to. */
export type PathKind =
  | 'harmless'
  | 'network'
  | 'device'
  | 'protected'
  | 'startup'
  | 'system'
  | 'workspace'
  | 'scratch'
  | 'outside'
  | 'unknown';

/** Files of programs that run later or are trusted, and files among them that are neither. */
export interface ProgramPlaces {
  readonly startup: PathTable;
  readonly harmless: PathTable;
}

/** The facts, with what is known about the files of programs. */
export interface AnalysisFacts extends PolicyFacts {
  readonly places: ProgramPlaces;
}

const HARMLESS = compilePatterns(HARMLESS_DEVICES);
const NETWORK = compilePatterns(NETWORK_PATHS);
const STARTUP = compilePatterns(STARTUP_PATHS);
const SYSTEM = compilePatterns(SYSTEM_PATHS);
const SECRET = compilePatterns(SECRET_PATHS);
const PUBLIC = compilePatterns(PUBLIC_NAMES);
/** Names of files with credentials, wherever these are. */
const SECRET_NAMES = [...new Set(SECRET_PATHS.map(baseName))].filter((name) => name !== '**');

const CRITICAL: ReadonlySet<string> = new Set(CRITICAL_DIRECTORIES);

/** All kinds, the strictest last: it counts for a link, which has the kind of its path and of its target. */
const KINDS: readonly PathKind[] = [
  ...(['harmless', 'scratch', 'workspace', 'unknown', 'outside'] as const),
  ...(['network', 'startup', 'system', 'device', 'protected'] as const),
];

/**
 * The kind of place of the file that is read or written at an absolute, normalized path.
 * @param isGlob whether the path is a pattern: the strictest kind counts that it may match
 */
export const kindOf = (path: Directory, facts: AnalysisFacts, isGlob = false): PathKind =>
  path === undefined ? 'unknown' : strictestKind(path, targetOf(path, facts), facts, isGlob);

/**
 * Whether a file is run or trusted later, or a directory has the name of one that holds such files. A pattern of any name
 * is not taken for one that is protected.
 */
export function isTrustedPlace(path: string, facts: AnalysisFacts, isGlob: boolean): boolean {
  const kind = kindOf(path, facts, isGlob);
  const isProtected = kind === 'protected' && !(isGlob && /^[*?[]/.test(baseName(path)));
  return kind === 'startup' || isProtected || isHolder(baseName(path), facts.places.startup, isGlob);
}

/** The kind of place of the directory entry that is deleted at an absolute, normalized path. */
export const kindOfEntry = (path: string, facts: AnalysisFacts): PathKind =>
  strictestKind(path, entryOf(path, facts), facts, false);

/** The file that is read or written at a path: where links lead. */
export const targetOf = (path: string, { files }: AnalysisFacts): string => files.get(path)?.target ?? path;

/** The directory entry that is deleted at a path: where links of its directory lead. */
export const entryOf = (path: string, { files }: AnalysisFacts): string => files.get(path)?.entry ?? path;

/** Names a file, with the place to which a link leads. */
export function describePath(path: string, facts: AnalysisFacts): string {
  const target = targetOf(path, facts);
  return target === path ? path : `${path}, which leads to ${target}`;
}

/** The stricter kind of a path and of the place to which links lead from there. */
function strictestKind(path: string, place: string, facts: AnalysisFacts, isGlob: boolean): PathKind {
  const kind = kindOfPath(path, facts, isGlob);
  if (place === path) return kind;
  const other = kindOfPath(place, facts, isGlob);
  return KINDS.indexOf(other) > KINDS.indexOf(kind) ? other : kind;
}

function kindOfPath(path: string, facts: AnalysisFacts, isGlob: boolean): PathKind {
  const compared = comparePath(path, facts.home, isGlob);
  const special = specialKindOf(path, compared, facts);
  if (special) return special;
  return kindOfPlace(path, compared, facts);
}

/** The kind of the directory in which a file is. */
function kindOfPlace(path: string, compared: ComparedPath, { workspace, scratch }: AnalysisFacts): PathKind {
  // A workspace may be anywhere, also in a system directory such as /opt, so it is checked before those.
  if (workspace !== '/' && isWithin(path, workspace)) return 'workspace';
  if (scratch.some((directory) => isWithin(path, directory))) return 'scratch';
  if (isListed(compared, SYSTEM) || isSystemDirectory(path)) return 'system';
  if (path.startsWith('/dev/')) return 'device';
  return workspace === '/' ? 'workspace' : 'outside';
}

/** The kind of a file that has a meaning of its own, whatever directory it is in. */
function specialKindOf(path: string, compared: ComparedPath, facts: AnalysisFacts): PathKind | undefined {
  if (isListed(compared, HARMLESS)) return 'harmless';
  if (isListed(compared, NETWORK)) return 'network';
  const isProtected = (directory: string) =>
    isWithin(path, directory) || (compared.isGlob && mayMatch(path, directory));
  if (facts.protectedPaths.some(isProtected)) return 'protected';
  if (isListed(compared, STARTUP)) return 'startup';
  const isStartup = isListed(compared, facts.places.startup) && !isListed(compared, facts.places.harmless);
  return isStartup ? 'startup' : undefined;
}

const isSystemDirectory = (path: string): boolean => path === '/' || path === '/dev';

/** Whether a file contains credentials; a pattern, whether it may match one. */
export function isSecret(path: string, facts: AnalysisFacts, isGlob = false): boolean {
  if (facts.files.get(path)?.isKey === true || isSecretPath(path, facts, isGlob)) return true;
  const target = targetOf(path, facts);
  return target !== path && isSecretPath(target, facts, isGlob);
}

function isSecretPath(path: string, facts: AnalysisFacts, isGlob: boolean): boolean {
  if (facts.secretPaths.some((own) => isWithin(path, own) || (isGlob && mayLeadTo(path, own)))) return true;
  const compared = comparePath(path, facts.home, isGlob);
  return isListed(compared, SECRET) && (isGlob || !isListed(compared, PUBLIC));
}

/** Whether a pattern may match a path, or something below it. An asterisk stands for one name. */
function mayLeadTo(pattern: string, path: string): boolean {
  const depth = path.split('/').length;
  const names = pattern.split('/');
  return names.length >= depth && mayMatch(names.slice(0, depth).join('/'), path);
}

/** The part of a directory that a program reads. */
export interface TreeFilter {
  /** Names, or patterns of names. @default all */
  readonly names?: readonly string[];
  /** Whether it reads hidden files and directories. @default true */
  readonly seesHidden?: boolean;
}

/**
 * Whether files with credentials are below a directory.
 * @param seesHidden false for programs that leave out hidden files and directories
 */
export const containsSecret = (path: string, facts: AnalysisFacts, seesHidden = true): boolean =>
  [path, targetOf(path, facts)].some((place) => isAboveSecret(place, facts, seesHidden));

function isAboveSecret(path: string, facts: AnalysisFacts, seesHidden: boolean): boolean {
  // A walk through the workspace is ordinary, whatever the adapter keeps there.
  if (facts.secretPaths.some((own) => isWithin(own, path) && !isWithin(own, facts.workspace))) return true;
  const isAboveHome = facts.home !== undefined && isWithin(facts.home, path) && facts.home !== path;
  if (path === '/' || path === '/home' || path === '/Users' || isAboveHome) return true;
  return containsListed(comparePath(path, facts.home), SECRET, seesHidden) && !facts.scratch.includes(path);
}

/** Whether a pattern of names is meant for files with credentials: `.env*`, `*.pem`, `id_*`, but not `*.json`. */
export function seeksSecrets(pattern: string): boolean {
  const [shortest, longer] = [pattern.replaceAll('*', ''), pattern.replaceAll('*', 'x')];
  if (SECRET_NAMES.some((known) => mayMatch(known, shortest) || mayMatch(known, longer)))
    return !PUBLIC_NAMES.some((known) => mayMatch(known, longer));
  const [start = ''] = pattern.split(/[*?[]/, 1);
  return start.length >= MIN_START && start !== pattern && SECRET_NAMES.some((known) => known.startsWith(start));
}

/** Fewest characters at the start of a pattern that make it more specific than any other. */
const MIN_START = 3;

/** Whether a file name, or a pattern of names, is one of a file with credentials. */
export const isSecretName = (name: string): boolean =>
  SECRET_NAMES.some((known) => mayMatch(known, name) || mayMatch(name, known));

/** Whether an absolute, normalized path is required for the machine to work. */
export function isCritical(path: string, facts: AnalysisFacts): boolean {
  // On the hot path: called for every path of every command.
  return path === facts.home || CRITICAL.has(path) || /^\/(?:home|Users)\/[^/]+$/.test(path);
}

/** Whether a pattern may match a critical directory, or everything in one. */
export function mayBeCritical(pattern: string, facts: AnalysisFacts): boolean {
  const directory = pattern.slice(0, pattern.lastIndexOf('/')) || '/';
  if (isCritical(directory, facts) && mayMatch(baseName(pattern), 'any-name-at-all')) return true;
  return atHome(CRITICAL_DIRECTORIES, facts).some((critical) => mayMatch(pattern, critical));
}

/** Whether a path is one file in a scratch directory, which every program may overwrite. */
export const isScratchFile = (path: string, facts: AnalysisFacts, isGlob: boolean): boolean =>
  !isGlob && kindOfEntry(path, facts) === 'scratch' && !facts.scratch.includes(path);

/** Block devices and memory: writing to them destroys their content. */
export function isRawDevice(path: string): boolean {
  return /^\/dev\/(?:[shv]d[a-z]|xvd|nvme|mmcblk|disk|dm-|md\d|loop|mapper\/|mem$|kmem$|port$|sr\d|nbd|rbd|zd)/.test(
    path,
  );
}

function atHome(patterns: PathPatterns, { home }: AnalysisFacts): readonly string[] {
  return patterns.flatMap((pattern) => {
    if (!pattern.startsWith('~')) return [pattern];
    return home === undefined ? [] : [home + pattern.slice(1)];
  });
}

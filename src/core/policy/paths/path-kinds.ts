import { PUBLIC_NAMES } from '../../secrets/credential-places.js';
import type { Directory, PolicyFacts } from '../model/facts.js';
import {
  CRITICAL_DIRECTORIES,
  HARMLESS_DEVICES,
  NETWORK_PATHS,
  type PathPatterns,
  SECRET_PATHS,
  STARTUP_PATHS,
  SYSTEM_PATHS,
} from './path-tables.js';
import {
  type ComparedPath,
  comparePath,
  compilePatterns,
  containsListed,
  isListed,
  type PathTable,
} from './path-patterns.js';
import { baseName, isWithin, mayMatch } from './paths.js';

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

/** The facts on which the classification of paths depends. */
type PlaceFacts = Pick<AnalysisFacts, 'home' | 'workspace' | 'scratch' | 'protectedPaths' | 'secretPaths' | 'places'>;

const HARMLESS = compilePatterns(HARMLESS_DEVICES);
const NETWORK = compilePatterns(NETWORK_PATHS);
const STARTUP = compilePatterns(STARTUP_PATHS);
const SYSTEM = compilePatterns(SYSTEM_PATHS);
const SECRET = compilePatterns(SECRET_PATHS);
const PUBLIC = compilePatterns(PUBLIC_NAMES);
/** Names of files with credentials, wherever these are. */
const SECRET_NAMES = [...new Set(SECRET_PATHS.map(baseName))].filter((name) => name !== '**');

const CRITICAL: ReadonlySet<string> = new Set(CRITICAL_DIRECTORIES);

/**
 * The kind of place of an absolute, normalized path.
 * @param isGlob whether the path is a pattern: the strictest kind counts that it may match
 */
export function kindOf(path: Directory, facts: PlaceFacts, isGlob = false): PathKind {
  if (path === undefined) return 'unknown';
  const compared = comparePath(path, facts.home, isGlob);
  const special = specialKindOf(path, compared, facts);
  if (special) return special;
  return kindOfPlace(path, compared, facts);
}

/** The kind of the directory in which a file is. */
function kindOfPlace(path: string, compared: ComparedPath, { workspace, scratch }: PlaceFacts): PathKind {
  // A workspace may be anywhere, also in a system directory such as /opt, so it is checked before those.
  if (workspace !== '/' && isWithin(path, workspace)) return 'workspace';
  if (scratch.some((directory) => isWithin(path, directory))) return 'scratch';
  if (isListed(compared, SYSTEM) || isSystemDirectory(path)) return 'system';
  if (path.startsWith('/dev/')) return 'device';
  return workspace === '/' ? 'workspace' : 'outside';
}

/** The kind of a file that has a meaning of its own, whatever directory it is in. */
function specialKindOf(path: string, compared: ComparedPath, facts: PlaceFacts): PathKind | undefined {
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
export function isSecret(path: string, facts: PlaceFacts, isGlob = false): boolean {
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

/**
 * Whether files with credentials are below a directory.
 * @param seesHidden false for programs that leave out hidden files and directories
 */
export function containsSecret(path: string, facts: PlaceFacts, seesHidden = true): boolean {
  // A walk through the workspace is ordinary, whatever the adapter keeps there.
  if (facts.secretPaths.some((own) => isWithin(own, path) && !isWithin(own, facts.workspace))) return true;
  const isAboveHome = facts.home !== undefined && isWithin(facts.home, path) && facts.home !== path;
  if (path === '/' || path === '/home' || path === '/Users' || isAboveHome) return true;
  return containsListed(comparePath(path, facts.home), SECRET, seesHidden) && !facts.scratch.includes(path);
}

/** Whether a file name, or a pattern of names, is one of a file with credentials. */
export const isSecretName = (name: string): boolean =>
  SECRET_NAMES.some((known) => mayMatch(known, name) || mayMatch(name, known));

/** Whether an absolute, normalized path is required for the machine to work. */
export function isCritical(path: string, facts: PlaceFacts): boolean {
  // On the hot path: called for every path of every command.
  return path === facts.home || CRITICAL.has(path) || /^\/(?:home|Users)\/[^/]+$/.test(path);
}

/** Whether a pattern may match a critical directory, or everything in one. */
export function mayBeCritical(pattern: string, facts: PlaceFacts): boolean {
  const directory = pattern.slice(0, pattern.lastIndexOf('/')) || '/';
  if (isCritical(directory, facts) && mayMatch(baseName(pattern), 'any-name-at-all')) return true;
  return atHome(CRITICAL_DIRECTORIES, facts).some((critical) => mayMatch(pattern, critical));
}

/** Whether a path is one file in a scratch directory, which every program may overwrite. */
export const isScratchFile = (path: string, facts: PlaceFacts, isGlob: boolean): boolean =>
  !isGlob && kindOf(path, facts) === 'scratch' && !facts.scratch.includes(path);

/** Block devices and memory: writing to them destroys their content. */
export function isRawDevice(path: string): boolean {
  return /^\/dev\/(?:[shv]d[a-z]|xvd|nvme|mmcblk|disk|dm-|md\d|loop|mapper\/|mem$|kmem$|port$|sr\d|nbd|rbd|zd)/.test(
    path,
  );
}

function atHome(patterns: PathPatterns, { home }: PlaceFacts): readonly string[] {
  return patterns.flatMap((pattern) => {
    if (!pattern.startsWith('~')) return [pattern];
    return home === undefined ? [] : [home + pattern.slice(1)];
  });
}

import type { Directory, PolicyFacts } from '../model/facts.js';
import {
  CRITICAL_DIRECTORIES,
  HARMLESS_DEVICES,
  NETWORK_PATHS,
  type PathPatterns,
  PUBLIC_PATHS,
  SECRET_PATHS,
  SECRET_SAMPLES,
  STARTUP_PATHS,
  SYSTEM_PATHS,
} from './path-tables.js';
import { type ComparedPath, comparePath, compilePatterns, isListed, type PathTable } from './path-patterns.js';
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

/** Files of programs that run later or are trusted, and files that contain credentials. */
export interface ProgramPlaces {
  readonly startup: PathTable;
  readonly secret: PathTable;
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
const PUBLIC = compilePatterns(PUBLIC_PATHS);

const CRITICAL: ReadonlySet<string> = new Set(CRITICAL_DIRECTORIES);

/** The kind of place of an absolute, normalized path. */
export function kindOf(path: Directory, facts: PlaceFacts): PathKind {
  if (path === undefined) return 'unknown';
  const compared = comparePath(path, facts.home);
  const special = specialKindOf(path, compared, facts);
  if (special) return special;
  // A workspace may be anywhere, also in a system directory such as /opt, so it is checked before those.
  if (facts.workspace !== '/' && isWithin(path, facts.workspace)) return 'workspace';
  if (facts.scratch.some((directory) => isWithin(path, directory))) return 'scratch';
  if (isListed(compared, SYSTEM) || isSystemDirectory(path)) return 'system';
  if (path.startsWith('/dev/')) return 'device';
  return facts.workspace === '/' ? 'workspace' : 'outside';
}

/** The kind of a file that has a meaning of its own, whatever directory it is in. */
function specialKindOf(path: string, compared: ComparedPath, facts: PlaceFacts): PathKind | undefined {
  if (isListed(compared, HARMLESS)) return 'harmless';
  if (isListed(compared, NETWORK)) return 'network';
  if (facts.protectedPaths.some((directory) => isWithin(path, directory))) return 'protected';
  if (isListed(compared, STARTUP) || isListed(compared, facts.places.startup)) return 'startup';
  return undefined;
}

const isSystemDirectory = (path: string): boolean => path === '/' || path === '/dev';

/** Whether a file contains credentials. */
export function isSecret(path: string, facts: PlaceFacts): boolean {
  if (facts.secretPaths.includes(path)) return true;
  const compared = comparePath(path, facts.home);
  return (isListed(compared, SECRET) || isListed(compared, facts.places.secret)) && !isListed(compared, PUBLIC);
}

/** Whether an absolute, normalized pattern may match credentials. */
export function mayBeSecret(pattern: string, facts: PlaceFacts): boolean {
  // A pattern matches only in its own directory, and few other files are there.
  const isBeside = (path: string) => path.split('/').length === pattern.split('/').length;
  if (facts.secretPaths.some((path) => isBeside(path) && mayMatch(pattern, path))) return true;
  return atHome(SECRET_SAMPLES, facts).some((sample) => mayMatch(pattern, sample));
}

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

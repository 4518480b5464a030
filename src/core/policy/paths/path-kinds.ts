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
import { comparePath, compilePatterns, isListed } from './path-patterns.js';
import { baseName, isWithin, mayMatch } from './paths.js';

/** What kind of place a path is, for what is written there. */
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

/** What of the facts decides over paths. */
export type PlaceFacts = Pick<PolicyFacts, 'home' | 'workspace' | 'scratch' | 'protectedPaths' | 'secretPaths'>;

const HARMLESS = compilePatterns(HARMLESS_DEVICES);
const NETWORK = compilePatterns(NETWORK_PATHS);
const STARTUP = compilePatterns(STARTUP_PATHS);
const SYSTEM = compilePatterns(SYSTEM_PATHS);
const SECRET = compilePatterns(SECRET_PATHS);
const PUBLIC = compilePatterns(PUBLIC_PATHS);

const CRITICAL: ReadonlySet<string> = new Set(CRITICAL_DIRECTORIES);

/** The kind of place that an absolute, normalized path is. */
export function kindOf(path: Directory, facts: PlaceFacts): PathKind {
  if (path === undefined) return 'unknown';
  const isIn = (directory: string) => isWithin(path, directory);
  const compared = comparePath(path, facts.home);
  if (isListed(compared, HARMLESS)) return 'harmless';
  if (isListed(compared, NETWORK)) return 'network';
  if (facts.protectedPaths.some(isIn)) return 'protected';
  if (isListed(compared, STARTUP)) return 'startup';
  // A workspace may lie anywhere, in /opt for example; what lies in a directory of the system is not one for that.
  if (facts.workspace !== '/' && isIn(facts.workspace)) return 'workspace';
  if (facts.scratch.some(isIn)) return 'scratch';
  if (isListed(compared, SYSTEM) || isSystemDirectory(path)) return 'system';
  if (path.startsWith('/dev/')) return 'device';
  return facts.workspace === '/' ? 'workspace' : 'outside';
}

const isSystemDirectory = (path: string): boolean => path === '/' || path === '/dev';

/** Whether what is read there are credentials. */
export function isSecret(path: string, facts: PlaceFacts): boolean {
  if (facts.secretPaths.includes(path)) return true;
  const compared = comparePath(path, facts.home);
  return isListed(compared, SECRET) && !isListed(compared, PUBLIC);
}

/** Whether a pattern, absolute and normalized, may mean credentials. */
export function mayBeSecret(pattern: string, facts: PlaceFacts): boolean {
  // A pattern stays in its directory; there, little else is found.
  const isBeside = (path: string) => path.split('/').length === pattern.split('/').length;
  if (facts.secretPaths.some((path) => isBeside(path) && mayMatch(pattern, path))) return true;
  return atHome(SECRET_SAMPLES, facts).some((sample) => mayMatch(pattern, sample));
}

/** Whether a path, absolute and normalized, is one without which nothing works. */
export function isCritical(path: string, facts: PlaceFacts): boolean {
  // Met by every path of every command.
  return path === facts.home || CRITICAL.has(path) || /^\/(?:home|Users)\/[^/]+$/.test(path);
}

/** Whether a pattern may mean a critical directory, or all that is in one. */
export function mayBeCritical(pattern: string, facts: PlaceFacts): boolean {
  const directory = pattern.slice(0, pattern.lastIndexOf('/')) || '/';
  if (isCritical(directory, facts) && mayMatch(baseName(pattern), 'any-name-at-all')) return true;
  return atHome(CRITICAL_DIRECTORIES, facts).some((critical) => mayMatch(pattern, critical));
}

/** Block devices and memory: writing there destroys what is on them. */
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

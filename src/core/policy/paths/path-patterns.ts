import { mayMatch } from './paths.js';

/** A compiled pattern of paths. */
interface CompiledPattern {
  /** Start of the pattern: at the root, in any home directory, or as a name in any directory. */
  readonly base: 'root' | 'home' | 'any';
  readonly segments: readonly string[];
}

/** Compiled patterns. */
export type PathTable = readonly CompiledPattern[];

/**
 * Compiles patterns: `~` is a home directory, `**` any depth, `*` any name; a pattern without a slash is a name
 * anywhere.
 */
export const compilePatterns = (patterns: readonly string[]): PathTable =>
  patterns.map((pattern) => {
    const base = pattern.startsWith('~') ? 'home' : pattern.includes('/') ? 'root' : 'any';
    return { base, segments: pattern.replace(/^~/, '').split('/').filter(Boolean) };
  });

/** A path prepared for comparison: its components, and those below each home directory that contains it. */
export interface ComparedPath {
  readonly segments: readonly string[];
  readonly belowHomes: readonly (readonly string[])[];
}

/** Splits an absolute, normalized path. All users' home directories count: those of others are equally sensitive. */
export function comparePath(path: string, home: string | undefined): ComparedPath {
  const segments = path.split('/').filter(Boolean);
  const belowHomes: string[][] = [];
  if (home !== undefined && (path === home || path.startsWith(`${home}/`))) {
    belowHomes.push(segments.slice(home.split('/').filter(Boolean).length));
  }
  if (segments[0] === 'root') belowHomes.push(segments.slice(1));
  if (segments[0] === 'home' || segments[0] === 'Users') belowHomes.push(segments.slice(2));
  return { segments, belowHomes };
}

/** Whether any pattern of the table matches the path. */
export function isListed({ segments, belowHomes }: ComparedPath, table: PathTable): boolean {
  return table.some(({ base, segments: pattern }) => {
    if (base === 'any') return segments.length > 0 && isPart(pattern[0] ?? '', segments.at(-1) ?? '');
    if (base === 'root') return fits(segments, pattern);
    return belowHomes.some((below) => fits(below, pattern));
  });
}

const isPart = (pattern: string, segment: string): boolean =>
  pattern === segment || (pattern.includes('*') && mayMatch(pattern, segment));

/** `**` matches any number of components, including none. Tables contain few of them, so this does not branch much. */
function fits(segments: readonly string[], pattern: readonly string[], from = 0, at = 0): boolean {
  for (let index = at; index < pattern.length; index += 1, from += 1) {
    const part = pattern[index] ?? '';
    if (part === '**') return fitsAtAnyDepth(segments, pattern, from, index + 1);
    const segment = segments[from];
    if (segment === undefined || !isPart(part, segment)) return false;
  }
  return from === segments.length;
}

/** Whether the rest of a pattern matches the components from any position on. */
function fitsAtAnyDepth(segments: readonly string[], pattern: readonly string[], from: number, at: number): boolean {
  if (at === pattern.length) return true;
  for (let start = from; start <= segments.length; start += 1) if (fits(segments, pattern, start, at)) return true;
  return false;
}

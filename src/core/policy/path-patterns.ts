import { mayMatch } from './paths.js';

interface CompiledPattern {
  /** Start of the pattern: at the root, in any home directory, or as a name in any directory. */
  readonly base: 'root' | 'home' | 'any';
  readonly segments: readonly string[];
}

/** Patterns by the component that they begin with; a text with `*` is no such component. */
type ByStart = ReadonlyMap<string, readonly CompiledPattern[]>;

/** Compiled patterns, with those that can match a path by its components: a table is searched for each path of each command. */
export interface PathTable {
  readonly all: readonly CompiledPattern[];
  readonly byStart: { readonly [B in 'root' | 'home']: ByStart };
  /** Names without `*`. */
  readonly names: ReadonlySet<string>;
  /** Patterns that begin with a `*`, or names that contain one. */
  readonly open: readonly CompiledPattern[];
  /** Names of hidden directories that hold listed files, wherever they are: `.github` holds workflows. */
  readonly holders: ReadonlySet<string>;
}

/**
 * Compiles patterns: `~` is a home directory, `**` any depth, `*` any name; a pattern without a slash is a name
 * anywhere.
 */
export function compilePatterns(patterns: readonly string[]): PathTable {
  const all = patterns.map(compilePattern);
  const fixed = all.filter(({ segments: [start = ''] }) => !start.includes('*'));
  const startOf = ({ segments: [start = ''] }: CompiledPattern) => start;
  return {
    all,
    byStart: {
      root: groupBy(
        fixed.filter(({ base }) => base === 'root'),
        startOf,
      ),
      home: groupBy(
        fixed.filter(({ base }) => base === 'home'),
        startOf,
      ),
    },
    names: new Set(fixed.filter(({ base }) => base === 'any').map(startOf)),
    open: all.filter(({ segments: [start = ''] }) => start.includes('*')),
    holders: new Set(
      all.flatMap(({ segments: [start, name = '', ...rest] }) =>
        start === '**' && name.startsWith('.') && rest.length > 0 ? [name] : [],
      ),
    ),
  };
}

function compilePattern(pattern: string): CompiledPattern {
  const base = pattern.startsWith('~') ? 'home' : pattern.includes('/') ? 'root' : 'any';
  return { base, segments: pattern.replace(/^~/, '').split('/').filter(Boolean) };
}

function groupBy<T>(values: readonly T[], keyOf: (value: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) groups.set(keyOf(value), [...(groups.get(keyOf(value)) ?? []), value]);
  return groups;
}

/** A path prepared for comparison: its components, and those below each home directory that contains it. */
export interface ComparedPath {
  readonly segments: readonly string[];
  readonly belowHomes: readonly (readonly string[])[];
  /** Whether the path is a pattern itself, which stands for whatever it may match. */
  readonly isGlob: boolean;
}

/** Splits an absolute, normalized path. All users' home directories count: those of others are equally sensitive. */
export function comparePath(path: string, home: string | undefined, isGlob = false): ComparedPath {
  const segments = path.split('/').filter(Boolean);
  const belowHomes: string[][] = [];
  if (home !== undefined && (path === home || path.startsWith(`${home}/`))) {
    belowHomes.push(segments.slice(home.split('/').filter(Boolean).length));
  }
  if (segments[0] === 'root') belowHomes.push(segments.slice(1));
  if (segments[0] === 'home' || segments[0] === 'Users') belowHomes.push(segments.slice(2));
  return { segments, belowHomes, isGlob };
}

export function isListed(path: ComparedPath, table: PathTable): boolean {
  const { segments, belowHomes, isGlob } = path;
  if (isGlob) return table.all.some((pattern) => isMatch(path, pattern));
  const isFound = (pattern: CompiledPattern) => isMatch(path, pattern);
  const { root, home } = table.byStart;
  return (
    table.names.has(segments.at(-1) ?? '') ||
    (root.get(segments[0] ?? '')?.some(isFound) ?? false) ||
    belowHomes.some((below) => home.get(below[0] ?? '')?.some(isFound) ?? false) ||
    table.open.some(isFound)
  );
}

function isMatch(
  { segments, belowHomes, isGlob }: ComparedPath,
  { base, segments: pattern }: CompiledPattern,
): boolean {
  if (base === 'any') return isName(pattern[0] ?? '', segments.at(-1), isGlob);
  if (base === 'root') return fits(segments, pattern, isGlob);
  return belowHomes.some((below) => fits(below, pattern, isGlob));
}

/** A pattern such as `*` does not stand for each name that is listed, unless it is a hidden one, which needs a dot. */
const isName = (pattern: string, name: string | undefined, isGlob: boolean): boolean =>
  name !== undefined && isPart(pattern, name, isGlob && pattern.startsWith('.'));

const isPart = (pattern: string, segment: string, isGlob: boolean): boolean =>
  pattern === segment ||
  (pattern.includes('*') && mayMatch(pattern, segment)) ||
  (isGlob &&
    IS_GLOB.test(segment) &&
    (expandsTo(segment, pattern.replaceAll('*', 'x')) || expandsTo(segment, pattern.replaceAll('*', ''))));

const IS_GLOB = /[*?[(]/;

/** Whether a pattern of a shell may expand to a name: one that begins with a dot needs a dot in the pattern. */
function expandsTo(glob: string, name: string): boolean {
  const matchesHidden = glob.startsWith('.') || /^[@+?*!]\([^)]*\./.test(glob);
  return (matchesHidden || !name.startsWith('.')) && mayMatch(glob, name);
}

/** Whether a name, or a pattern of names, is one of a directory that holds listed files wherever it is. */
export const isHolder = (name: string, { holders }: PathTable, isGlob: boolean): boolean =>
  holders.has(name) || (isGlob && [...holders].some((holder) => expandsTo(name, holder)));

/** Whether a place of the table is below a directory; `**` may be anything below it, names without a place nothing. */
export function containsListed({ segments, belowHomes }: ComparedPath, table: PathTable, seesHidden: boolean): boolean {
  return table.all.some(({ base, segments: pattern }) => {
    if (base === 'any' || pattern[0] === '**') return false;
    const directories = base === 'root' ? [segments] : belowHomes;
    return directories.some((directory) => isAbove(directory, pattern, seesHidden));
  });
}

function isAbove(directory: readonly string[], pattern: readonly string[], seesHidden: boolean): boolean {
  const end = pattern.indexOf('**');
  const fixed = end === -1 ? pattern : pattern.slice(0, end);
  if (directory.length >= fixed.length) return false;
  const rest = fixed.slice(directory.length);
  if (!seesHidden && rest.some((name) => name.startsWith('.'))) return false;
  return directory.every((name, index) => isPart(fixed[index] ?? '', name, false));
}

/** `**` matches any number of components, including none. Tables contain few of them, so this does not branch much. */
function fits(segments: readonly string[], pattern: readonly string[], isGlob: boolean, from = 0): boolean {
  let next = from;
  for (let index = 0; index < pattern.length; index += 1, next += 1) {
    const part = pattern[index] ?? '';
    if (part === '**') return fitsAtAnyDepth(segments, pattern.slice(index + 1), isGlob, next);
    const segment = segments[next];
    if (segment === undefined || !isPart(part, segment, isGlob)) return false;
  }
  return next === segments.length;
}

/** Whether the rest of a pattern matches the components from any position on. */
function fitsAtAnyDepth(segments: readonly string[], rest: readonly string[], isGlob: boolean, from: number): boolean {
  if (rest.length === 0) return true;
  for (let start = from; start <= segments.length; start += 1) if (fits(segments, rest, isGlob, start)) return true;
  return false;
}

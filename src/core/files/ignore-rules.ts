import { compileGlob, type PathMatcher } from './glob.js';

/** One rule of a .gitignore. */
interface IgnoreRule {
  readonly matches: PathMatcher;
  readonly isForDirectories: boolean;
  /** False for `!`, which takes an exclusion back. */
  readonly excludes: boolean;
}

/** The rules of one .gitignore, and the directory that it is in. */
export interface IgnoreFile {
  /** The way from the top of the walk down to the directory, with a slash at its end; empty for the top. */
  readonly below: string;
  /** The way from a directory above the top down to the top, likewise; empty for a directory in the walk. */
  readonly above: string;
  readonly rules: readonly IgnoreRule[];
}

/** Most rules of one file: a longer one is not a list of exclusions. */
const MAX_RULES = 2000;

/** Reads a .gitignore. Source: gitignore(5). A line that is no glob excludes nothing. */
export function parseIgnoreFile(text: string): readonly IgnoreRule[] {
  return text
    .split(/\r?\n/)
    .slice(0, MAX_RULES)
    .flatMap((line) => parseRule(line) ?? []);
}

function parseRule(line: string): IgnoreRule | undefined {
  const trimmed = line.replace(/(?<!\\)\s+$/, '');
  if (trimmed === '' || trimmed.startsWith('#')) return undefined;
  const excludes = !trimmed.startsWith('!');
  const glob = excludes ? trimmed : trimmed.slice(1);
  const isForDirectories = glob.endsWith('/');
  try {
    return { matches: compileGlob(isForDirectories ? glob.slice(0, -1) : glob), isForDirectories, excludes };
  } catch {
    // No glob.
    return undefined;
  }
}

/**
 * Whether a path is excluded. The last rule that matches decides, and those of a deeper file come later.
 * @param path relative to the top of the walk
 * @param files from the top down; the path is below each of them
 */
export function isIgnored(path: string, isDirectory: boolean, files: readonly IgnoreFile[]): boolean {
  for (const { below, above, rules } of files.toReversed()) {
    const within = `${above}${path.slice(below.length)}`;
    const rule = rules.findLast((each) => (isDirectory || !each.isForDirectories) && each.matches(within));
    if (rule) return rule.excludes;
  }
  return false;
}

import { RE2JS } from 're2js';

import { AdapterError } from './errors.js';

/** Whether a path, relative and without a leading `./`, matches. */
type PathMatcher = (path: string) => boolean;

const SPECIAL = /[*?[\]{}\\]/;

/**
 * Compiles a glob: `*` and `?` within a name, `**` across directories, `[a-z]`, `{a,b}`; a backslash takes the special meaning from a
 * character. Without a slash it is about the name alone, in any directory. It is matched without backtracking.
 * @throws AdapterError INVALID_REQUEST for a glob that cannot be compiled
 */
export function compileGlob(glob: string): PathMatcher {
  const anchored = glob.startsWith('/') ? glob.slice(1) : glob;
  const isAboutName = !glob.includes('/');
  const matches = compilePart(anchored);
  return isAboutName ? (path) => matches(path.slice(path.lastIndexOf('/') + 1)) : matches;
}

/** Most globs are a name or an ending, which need no expression. */
function compilePart(glob: string): PathMatcher {
  if (!SPECIAL.test(glob)) return (path) => path === glob;
  const ending = glob.slice(1);
  if (glob.startsWith('*') && !SPECIAL.test(ending) && !glob.includes('/')) {
    return (path) => path.endsWith(ending) && !path.includes('/');
  }
  const expression = compileExpression(glob);
  return (path) => expression.matches(path);
}

function compileExpression(glob: string): RE2JS {
  try {
    return RE2JS.compile(`(?s)${toExpression(glob)}`);
  } catch (error) {
    throw new AdapterError('INVALID_REQUEST', `${JSON.stringify(glob)} is no glob: ${(error as Error).message}`, {
      details: { field: 'glob' },
      cause: error,
    });
  }
}

const TOKEN = /\*\*\/|\/\*\*$|\*+|\?|\[!?\]?[^\]]*\]|\{|\}|,|\\.|[^*?[{},\\]+|./gs;

function toExpression(glob: string): string {
  let depth = 0;
  const parts = (glob.match(TOKEN) ?? []).map((token) => {
    if (token === '{') depth += 1;
    const part = translate(token, depth);
    if (token === '}' && depth > 0) depth -= 1;
    return part;
  });
  return parts.join('');
}

function translate(token: string, depth: number): string {
  const fixed = FIXED[token] ?? (depth > 0 ? IN_BRACES[token] : undefined);
  if (fixed !== undefined) return fixed;
  if (token.startsWith('*')) return token === '**' ? '.*' : '[^/]*';
  if (token.length > 1 && token.startsWith('[')) return translateClass(token);
  return RE2JS.quote(token.startsWith('\\') && token.length === 2 ? token.slice(1) : token);
}

const translateClass = (token: string): string => `[${token.slice(1, -1).replace(/^!/, '^').replaceAll('\\', '\\\\')}]`;

const FIXED: Readonly<Record<string, string | undefined>> = {
  '**/': '(?:.*/)?',
  '/**': '/.*',
  '?': '[^/]',
  '{': '(?:',
};
const IN_BRACES: Readonly<Record<string, string | undefined>> = { '}': ')', ',': '|' };

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

import type { Directory } from './model.js';

/** Makes a path absolute and resolves `.`, `..` and double slashes, without file system access. */
export function normalizePath(path: string, directory: string): string {
  const kept: string[] = [];
  for (const part of (path.startsWith('/') ? path : `${directory}/${path}`).split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') kept.pop();
    else kept.push(part);
  }
  return `/${kept.join('/')}`;
}

/** Links of /proc to the root and to the working directory of a process, which is taken to be the same for all. */
const OTHER_VIEW = /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(root|cwd)(?=\/|$)/;

/** The possible absolute paths of a path; contains undefined when a directory is unknown. */
export function resolvePath(path: string, directories: readonly Directory[]): readonly Directory[] {
  if (path.startsWith('/')) {
    const absolute = normalizePath(path, '/');
    const [link, place] = OTHER_VIEW.exec(absolute) ?? [];
    if (link === undefined) return [absolute];
    const rest = absolute.slice(link.length);
    return place === 'root' ? [rest === '' ? '/' : rest] : resolvePath(`.${rest}`, directories);
  }
  return directories.map((directory) => (directory === undefined ? undefined : normalizePath(path, directory)));
}

/** Whether a path is a directory or lies in it. Both are absolute and normalized. */
export function isWithin(path: string, directory: string): boolean {
  return directory === '/' || path === directory || path.startsWith(`${directory}/`);
}

/** The directory that contains an absolute, normalized path. */
export const directoryOf = (path: string): string => path.slice(0, path.lastIndexOf('/')) || '/';

export const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Longest pattern that is evaluated, in characters: a longer one counts as matching. */
const MAX_PATTERN_LENGTH = 256;

/**
 * Whether a shell pattern may match a name. Supports `*`, `?` and brackets, each of which counts as any character. Time
 * is at most proportional to the product of both lengths.
 */
export function mayMatch(pattern: string, name: string): boolean {
  if (pattern.length > MAX_PATTERN_LENGTH) return true;
  // On the hot path: most names in the tables are plain, and of the others most differ at their start.
  const special = pattern.search(/[*?[(]/);
  if (special === -1) return pattern === name;
  const plain = pattern.slice(0, pattern[special] === '(' ? Math.max(0, special - 1) : special);
  return name.startsWith(plain) && isMatch(simplifyPattern(pattern), name);
}

/** Whether a simplified pattern matches a name. */
function isMatch(tokens: string, name: string): boolean {
  let token = 0;
  let position = 0;
  let star = -1;
  let retry = 0;
  while (position < name.length) {
    if (tokens[token] === '*') {
      star = token;
      retry = position;
      token += 1;
    } else if (token < tokens.length && (tokens[token] === '?' || tokens[token] === name[position])) {
      token += 1;
      position += 1;
    } else if (star >= 0) {
      token = star + 1;
      retry += 1;
      position = retry;
    } else return false;
  }
  while (tokens[token] === '*') token += 1;
  return token === tokens.length;
}

/** A pattern whose brackets are `?`, and whose groups of extended patterns are `*`. */
function simplifyPattern(pattern: string): string {
  const ungrouped = pattern.includes('(') ? pattern.replace(/[?*+@!]\([^)]*\)/g, '*') : pattern;
  const simplified = ungrouped.includes('[') ? ungrouped.replace(/\[[^\]]+\]/g, '?') : ungrouped;
  return simplified.includes('**') ? simplified.replace(/\*+/g, '*') : simplified;
}

import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Directories that are looked through for repositories, at most: some milliseconds. */
const MAX_DIRECTORIES = 512;
/** Levels below the workspace at which a repository is found. */
const MAX_DEPTH = 4;
/** Git directories that are protected, at most: each takes some mounts. */
const MAX_GIT_DIRECTORIES = 32;
/** Directories with many others and no repository of the user's. */
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', '.venv', '__pycache__']);
/** A result is used again for that long, in milliseconds: what runs in a sandbox is started often. */
const FRESH_MS = 5000;
/** Prefix of the paths that apply to each repository. */
const OF_GIT = '.git/';
/** Files of a linked worktree or a submodule that lead git to its configuration. */
const LINKS = ['commondir', 'gitdir', 'config.worktree'];

/** Finds the repositories in a workspace, for the paths that are protected in each of them. */
export class Repositories {
  readonly #workspace: string;
  readonly #now: () => number;
  #found: readonly string[] = [];
  #foundAt = -Infinity;

  /**
   * @param workspace real path
   * @param now monotonic time in milliseconds
   */
  constructor(workspace: string, now: () => number = () => performance.now()) {
    this.#workspace = workspace;
    this.#now = now;
  }

  /**
   * Returns paths of a configuration, and those below `.git/` for the other repositories: nested ones at most 4 levels
   * deep, submodules and linked worktrees. A `.git` that is a file is protected itself, since it names the repository.
   * Repositories beyond 512 directories or 32 repositories are not found.
   * @param paths relative to the workspace; a directory ends in `/`
   */
  expand(paths: readonly string[]): readonly string[] {
    const ofGit = paths.filter((path) => path.startsWith(OF_GIT)).map((path) => path.slice(OF_GIT.length));
    if (ofGit.length === 0) return paths;
    if (this.#now() - this.#foundAt > FRESH_MS) {
      this.#found = findGitPaths(this.#workspace, ofGit).slice(0, MAX_GIT_DIRECTORIES * ofGit.length);
      this.#foundAt = this.#now();
    }
    return [...new Set([...paths, ...this.#found])];
  }
}

/** The paths to protect in all repositories below a directory. */
function findGitPaths(workspace: string, ofGit: readonly string[]): readonly string[] {
  const found: string[] = [];
  const queue: { readonly path: string; readonly depth: number }[] = [{ path: '', depth: 0 }];
  for (let at = 0; at < queue.length && at < MAX_DIRECTORIES; at++) {
    const { path, depth } = queue[at] ?? { path: '', depth: MAX_DEPTH };
    for (const entry of entriesOf(join(workspace, path))) {
      const inner = path === '' ? entry.name : `${path}/${entry.name}`;
      if (entry.name === '.git') found.push(...pathsOfRepository(workspace, inner, entry.isFile(), ofGit));
      else if (entry.isDirectory() && depth < MAX_DEPTH && !SKIPPED.has(entry.name)) {
        queue.push({ path: inner, depth: depth + 1 });
      }
    }
  }
  return found;
}

function pathsOfRepository(workspace: string, git: string, isFile: boolean, ofGit: readonly string[]): string[] {
  if (isFile) return [git];
  const worktrees = directoriesIn(workspace, `${git}/worktrees`);
  return [
    ...[git, ...submodulesOf(workspace, git)].flatMap((directory) => ofGit.map((path) => `${directory}/${path}`)),
    ...worktrees.flatMap((directory) => LINKS.map((name) => `${directory}/${name}`)).filter(exists(workspace)),
  ];
}

/** The git directories of submodules, whose names may have slashes, and of theirs. */
function submodulesOf(workspace: string, git: string, depth = 0): readonly string[] {
  return directoriesIn(workspace, depth === 0 ? `${git}/modules` : git).flatMap((directory) => {
    if (exists(workspace)(`${directory}/HEAD`)) return [directory, ...submodulesOf(workspace, directory)];
    return depth < MAX_DEPTH ? submodulesOf(workspace, directory, depth + 1) : [];
  });
}

const directoriesIn = (workspace: string, path: string): readonly string[] =>
  entriesOf(join(workspace, path))
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${path}/${name}`);

const exists =
  (workspace: string) =>
  (path: string): boolean =>
    lstatSync(join(workspace, path), { throwIfNoEntry: false }) !== undefined;

function entriesOf(path: string) {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    // ENOENT, ENOTDIR: there is none. EACCES: programs in the sandbox have no more rights than the daemon.
    return [];
  }
}

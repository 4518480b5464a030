import { readdirSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';

import { statOf } from '../system/stat-of.js';

/** Directories that are looked through for repositories, at most: some milliseconds. */
const MAX_DIRECTORIES = 512;
/** Levels below the workspace at which a repository is found. */
const MAX_DEPTH = 4;
/** Git directories that are protected, at most: each takes some mounts. */
const MAX_GIT_DIRECTORIES = 32;
/** Directories with many others and no repository of the user's. */
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', '.venv', '__pycache__']);
/**
 * A directory that changed this shortly before it was read, in milliseconds, may change again without a new time: the
 * kernel's clock of files advances by up to 10 ms at once.
 */
const UNSETTLED_MS = 100;
/** Prefix of the paths that apply to each repository. */
const OF_GIT = '.git/';
/** Files of a linked worktree or a submodule that lead git to its configuration. */
const LINKS = ['commondir', 'gitdir', 'config.worktree'];

/** Finds the repositories in a workspace, for the paths that are protected in each of them. */
export class Repositories {
  readonly #workspace: string;
  #last: Search | undefined;

  /** @param workspace real path */
  constructor(workspace: string) {
    this.#workspace = workspace;
  }

  /**
   * Returns paths of a configuration, and those below `.git/` for the other repositories: nested ones at most 4 levels
   * deep, submodules and linked worktrees. A `.git` that is a file is protected itself, since it names the repository.
   * Repositories beyond 512 directories or 32 repositories are not found. The workspace is searched again only when one
   * of the directories that were looked at has changed.
   * @param paths relative to the workspace; a directory ends in `/`
   */
  expand(paths: readonly string[]): readonly string[] {
    const ofGit = paths.filter((path) => path.startsWith(OF_GIT)).map((path) => path.slice(OF_GIT.length));
    if (ofGit.length === 0) return paths;
    if (!this.#last?.isCurrent) this.#last = new Search(this.#workspace, ofGit);
    return [...new Set([...paths, ...this.#last.found.slice(0, MAX_GIT_DIRECTORIES * ofGit.length)])];
  }
}

/** One search for repositories, with the directories that it has looked at. */
class Search {
  /** The paths to protect in all repositories below the workspace. */
  readonly found: readonly string[];
  readonly #workspace: string;
  readonly #ofGit: readonly string[];
  readonly #startedAt = Date.now();
  /** The state of each directory, also of missing ones, just before it was read. */
  readonly #stamps = new Map<string, string>();
  #isSettled = true;

  constructor(workspace: string, ofGit: readonly string[]) {
    this.#workspace = workspace;
    this.#ofGit = ofGit;
    this.found = this.#find();
  }

  /** Whether another search would find the same. */
  get isCurrent(): boolean {
    if (!this.#isSettled) return false;
    return [...this.#stamps].every(([path, stamp]) => stampOf(statOf(join(this.#workspace, path))) === stamp);
  }

  #find(): readonly string[] {
    const found: string[] = [];
    const queue: { readonly path: string; readonly depth: number }[] = [{ path: '', depth: 0 }];
    for (let at = 0; at < queue.length && at < MAX_DIRECTORIES; at++) {
      const { path, depth } = queue[at] ?? { path: '', depth: MAX_DEPTH };
      for (const entry of this.#entriesOf(path)) {
        const inner = path === '' ? entry.name : `${path}/${entry.name}`;
        if (entry.name === '.git') found.push(...this.#pathsOfRepository(inner, entry.isFile()));
        else if (entry.isDirectory() && depth < MAX_DEPTH && !SKIPPED.has(entry.name)) {
          queue.push({ path: inner, depth: depth + 1 });
        }
      }
    }
    return found;
  }

  #pathsOfRepository(git: string, isFile: boolean): string[] {
    if (isFile) return [git];
    const links = this.#directoriesIn(`${git}/worktrees`).flatMap((path) => LINKS.map((name) => `${path}/${name}`));
    return [
      ...[git, ...this.#submodulesOf(git)].flatMap((directory) => this.#ofGit.map((path) => `${directory}/${path}`)),
      ...links.filter((path) => this.#exists(path)),
    ];
  }

  /** The git directories of submodules, whose names may have slashes, and of theirs. */
  #submodulesOf(git: string, depth = 0): readonly string[] {
    return this.#directoriesIn(depth === 0 ? `${git}/modules` : git).flatMap((directory) => {
      if (this.#exists(`${directory}/HEAD`)) return [directory, ...this.#submodulesOf(directory)];
      return depth < MAX_DEPTH ? this.#submodulesOf(directory, depth + 1) : [];
    });
  }

  #directoriesIn(path: string): readonly string[] {
    const directories = this.#entriesOf(path).filter((entry) => entry.isDirectory());
    return directories.map(({ name }) => `${path}/${name}`);
  }

  #exists(path: string): boolean {
    this.#lookAt(dirname(path));
    return statOf(join(this.#workspace, path)) !== undefined;
  }

  #entriesOf(path: string) {
    this.#lookAt(path);
    try {
      return readdirSync(join(this.#workspace, path), { withFileTypes: true });
    } catch {
      // ENOENT, ENOTDIR: there is none. EACCES: programs in the sandbox have no more rights than the daemon.
      return [];
    }
  }

  #lookAt(path: string): void {
    if (this.#stamps.has(path)) return;
    const stat = statOf(join(this.#workspace, path));
    if (stat && stat.ctimeMs > this.#startedAt - UNSETTLED_MS) this.#isSettled = false;
    this.#stamps.set(path, stampOf(stat));
  }
}

/** A program cannot set the time of a change back, as it can that of a modification. */
const stampOf = (stat: Stats | undefined): string => (stat ? `${stat.dev} ${stat.ino} ${stat.ctimeMs}` : '');

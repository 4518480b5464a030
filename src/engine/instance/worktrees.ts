import { mkdir, readFile, realpath, rm } from 'node:fs/promises';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

import { execa } from 'execa';

import { AdapterError } from '../../core/errors.js';
import type { LivenessMarker } from './liveness-marker.js';

/** A file that differs from the commit that a worktree began with. */
interface WorktreeChange {
  readonly path: string;
  readonly status: 'added' | 'modified' | 'deleted';
}

/** What a run has left in its worktree. */
interface WorktreeChanges {
  readonly changes: readonly WorktreeChange[];
  readonly patch: string;
  /** Why something may be missing, such as a file that cannot be read; undefined when all is there. */
  readonly warning: string | undefined;
}

/** A working tree of a repository, for one run. It is removed with all in it. */
export interface Worktree extends AsyncDisposable {
  /** Where the directory is that was asked for: the root of the tree, or what is below it. */
  readonly path: string;
  /** What differs from the commit it began with, committed or not; ignored files are left out. Repositories made in it end as such. */
  changes(): Promise<WorktreeChanges>;
}

/** Nothing of a repository's hooks or of who runs the daemon takes part. */
const CONFIG = ['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false', '-c', 'commit.gpgSign=false'];
const STATUS: Readonly<Record<string, WorktreeChange['status']>> = { A: 'added', D: 'deleted' };

/** Where a worktree is, and what the repository knows of it: its index, its commit, its lock. */
interface Place {
  readonly tree: string;
  readonly records: string;
}

/** What a worktree's `.git` says: where the records are. */
const LINK = /^gitdir: (.+)$/m;

/** Repositories in repositories are looked for so deep. */
const MAX_NESTING = 8;

/** Of what git says so much is told, its end, in characters. */
const MAX_DETAIL = 2000;

/** Most of a patch that is taken, in characters. */
const MAX_PATCH = 16 * 1024 * 1024;

/**
 * Makes working trees of the commit that a repository has checked out. All are below one directory of this run of the daemon, so that
 * a successor finds what a killed daemon has left.
 */
export class Worktrees implements AsyncDisposable {
  readonly #directory: string;
  readonly #path: string;
  #count = 0;

  /**
   * @param root where they are
   * @param instance name of this run of the daemon
   * @param lifeSigns tell whose worktrees are left from a killed daemon
   * @param path PATH on which git is
   */
  constructor(root: string, instance: string, lifeSigns: LivenessMarker, path: string) {
    this.#directory = join(root, instance);
    this.#path = path;
    sweep(root, lifeSigns);
  }

  /**
   * Makes one.
   * @param directory a repository, or a directory in one
   * @throws AdapterError BAD_DIRECTORY when there is no repository with a commit, GIT_NOT_FOUND
   */
  async make(directory: string): Promise<Worktree> {
    const where = await this.#git(directory, 'rev-parse', '--show-prefix', '--show-cdup');
    // Of a repository without a working tree of its own there is no way up, and nothing below.
    const [prefix = '', up = ''] = where.split('\n');
    const top = resolve(await realpath(directory), up);
    const base = await this.#commitOf(directory);
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    this.#count += 1;
    const tree = join(this.#directory, String(this.#count));
    await this.#git(top, 'worktree', 'add', '--quiet', '--detach', tree, base);
    const [, records = ''] = LINK.exec(await readFile(join(tree, '.git'), 'utf8')) ?? [];
    return {
      path: join(tree, prefix),
      changes: () => this.#changes({ tree, records }, base),
      [Symbol.asyncDispose]: () => this.#remove({ tree, records }, top),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
  }

  /** Git's own word for a repository without one is "Needed a single revision". */
  async #commitOf(directory: string): Promise<string> {
    try {
      return (await this.#git(directory, 'rev-parse', '--verify', 'HEAD^{commit}')).trim();
    } catch (cause) {
      const detail = detailOf(cause);
      const message = `${directory} gives no worktree: no commit is checked out in it`;
      throw new AdapterError('BAD_DIRECTORY', message, { details: { directory, detail }, cause });
    }
  }

  async #changes({ tree, records }: Place, base: string): Promise<WorktreeChanges> {
    // Whatever has become of the tree, be it emptied or made one of another repository.
    await mkdir(tree, { recursive: true });
    const git = (...args: readonly string[]) => this.#git(tree, `--git-dir=${records}`, `--work-tree=${tree}`, ...args);
    await openRepositories(tree, git);
    // Its index is its own, and goes with it. What can be read is told, whatever cannot.
    const warning = await git('add', '--all', '--ignore-errors').then(() => undefined, detailOf);
    const names = (await git('diff', '--cached', '--no-renames', '--name-status', '-z', base)).split('\0');
    const changes = Array.from({ length: Math.floor(names.length / 2) }, (_, index): WorktreeChange => {
      const [letter = '', path = ''] = names.slice(2 * index, 2 * index + 2);
      return { path, status: STATUS[letter] ?? 'modified' };
    });
    const patch = await git('diff', '--cached', '--no-ext-diff', '--no-textconv', '--binary', base);
    return { changes, patch: patch.slice(0, MAX_PATCH), warning };
  }

  /** Whatever has become of the tree: locked, moved, emptied. */
  async #remove({ tree, records }: Place, repository: string): Promise<void> {
    await rm(tree, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
    // Those of one that is locked are kept by git for ever.
    if (records !== '') await rm(records, { recursive: true, force: true });
    // The repository may be gone, too.
    await this.#git(repository, 'worktree', 'prune', '--expire', 'now').catch(() => undefined);
  }

  async #git(cwd: string, ...args: readonly string[]): Promise<string> {
    const env = {
      PATH: this.#path,
      LC_ALL: 'C',
      GIT_TERMINAL_PROMPT: '0',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
    };
    const end = await execa('git', [...CONFIG, ...args], {
      cwd,
      env: { ...env, GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' },
      extendEnv: false,
      reject: false,
      stripFinalNewline: false,
      stdin: 'ignore',
    });
    if (!end.failed) return end.stdout;
    if (end.code === 'ENOENT' && existsSync(cwd))
      throw new AdapterError('GIT_NOT_FOUND', 'git is not installed, or not on PATH');
    const detail = (end.stderr || end.originalMessage || '').trim();
    throw new AdapterError('BAD_DIRECTORY', `${cwd} gives no worktree: ${detail.split('\n').at(-1) ?? ''}`, {
      details: { directory: cwd, detail: detail.slice(-MAX_DETAIL) },
    });
  }
}

/**
 * Makes plain directories of the repositories that a run has made in its tree, as tools do that begin a project: git would tell of
 * each a commit, that goes with the tree, or fail. Submodules are none: the tree's own repository knows of them.
 */
async function openRepositories(tree: string, git: (...args: readonly string[]) => Promise<string>): Promise<void> {
  for (let depth = 0; depth < MAX_NESTING; depth += 1) {
    const untracked = (await git('ls-files', '--others', '--exclude-standard', '-z')).split('\0');
    // It does not look into them.
    const repositories = untracked.filter((path) => path.endsWith('/'));
    if (repositories.length === 0) return;
    for (const path of repositories) await rm(join(tree, path, '.git'), { recursive: true, force: true });
  }
}

/** What git has said. */
function detailOf(error: unknown): string {
  if (!(error instanceof AdapterError)) throw error;
  const { detail } = error.details ?? {};
  return typeof detail === 'string' ? detail : error.message;
}

/** Removes what daemons have left that were killed, and what their repositories know of it. */
function sweep(root: string, lifeSigns: LivenessMarker): void {
  const instances = existsSync(root) ? readdirSync(root) : [];
  for (const instance of instances.filter((name) => !lifeSigns.isAlive(name))) {
    const directory = join(root, instance);
    for (const name of readdirSync(directory)) forget(join(directory, name));
    rmSync(directory, { recursive: true, force: true });
  }
}

/** A worktree's `.git` names its folder in the repository, which names the worktree in turn. */
function forget(tree: string): void {
  const link = join(tree, '.git');
  const [, folder] = existsSync(link) ? (LINK.exec(readFileSync(link, 'utf8')) ?? []) : [];
  if (folder === undefined || dirname(folder).split('/').at(-1) !== 'worktrees') return;
  const back = join(folder, 'gitdir');
  // Only if the repository says so too: the file was in a place where tools could write.
  if (existsSync(back) && resolve(folder, readFileSync(back, 'utf8').trim()) === link) {
    rmSync(folder, { recursive: true, force: true });
  }
}

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, readFile, realpath, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

import { AdapterError } from '../../core/errors.js';
import { removeTree, removeTreeSync } from '../system/local-files.js';
import { Turns } from '../system/promises.js';
import type { LivenessMarker } from './liveness-marker.js';

type Settings = Readonly<Record<string, string>>;

/** Keeps programs that the repository names from running: hooks, file system monitors, signing. */
const SETTINGS: Settings = {
  'safe.directory': '*',
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'commit.gpgSign': 'false',
};

/** Longest part of git's error output that is reported, its end, in characters. */
const MAX_DETAIL = 2000;

/** Runs git for the daemon in a repository of others, without the configuration of the daemon's user. */
class RepositoryGit {
  readonly #path: string;

  /** @param path PATH on which git is */
  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Runs git.
   * @returns its output
   * @throws AdapterError BAD_DIRECTORY when it fails, with its error output; GIT_NOT_FOUND
   */
  run(cwd: string, ...args: readonly string[]): Promise<string> {
    return this.#run(cwd, args, SETTINGS);
  }

  /** Runs git, and returns the beginning of its output: at most so many characters. */
  runUpTo(maxLength: number, cwd: string, ...args: readonly string[]): Promise<string> {
    return this.#run(cwd, args, SETTINGS, maxLength);
  }

  /** Runs git without the filters that the repository names for its files: programs that would be run on them. */
  async runWithoutFilters(cwd: string, ...args: readonly string[]): Promise<string> {
    const place = args.filter((arg) => arg.startsWith('--git-dir='));
    const keys = (await this.run(cwd, ...place, 'config', '--list', '--name-only', '-z')).split('\0');
    const filters = new Set(keys.flatMap((key) => /^filter\.(?:.*)(?=\.\w+$)/s.exec(key) ?? []));
    const disabled = [...filters].flatMap((filter) => [
      ...['clean', 'smudge', 'process'].map((action) => [`${filter}.${action}`, ''] as const),
      [`${filter}.required`, 'false'] as const,
    ]);
    return this.#run(cwd, args, { ...SETTINGS, ...Object.fromEntries<string>(disabled) });
  }

  async #run(cwd: string, args: readonly string[], settings: Settings, maxLength?: number): Promise<string> {
    // Loaded here, since few daemons need it: loading takes time that would delay their start.
    const { execa } = await import('execa');
    const end = await execa('git', args, {
      cwd,
      env: { PATH: this.#path, LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', ...configuration(settings) },
      extendEnv: false,
      reject: false,
      stripFinalNewline: false,
      stdin: 'ignore',
      ...(maxLength !== undefined && { maxBuffer: maxLength }),
    });
    if (!end.failed || (maxLength !== undefined && end.isMaxBuffer)) return end.stdout;
    if (end.code === 'ENOENT' && existsSync(cwd))
      throw new AdapterError('GIT_NOT_FOUND', 'git is not installed, or not on PATH');
    const detail = (end.stderr || end.originalMessage || '').trim();
    throw new AdapterError('BAD_DIRECTORY', `${cwd} gives no worktree: ${detail.split('\n').at(-1) ?? ''}`, {
      details: { directory: cwd, detail: detail.slice(-MAX_DETAIL) },
    });
  }
}

/** Environment variables with which git takes settings, and those of no user. Source: git-config(1). */
const configuration = (settings: Settings): Record<string, string> => ({
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_COUNT: String(Object.keys(settings).length),
  ...Object.fromEntries(
    Object.entries(settings).flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ),
});

/** A file that differs from the base commit of a worktree. */
interface WorktreeChange {
  readonly path: string;
  readonly status: 'added' | 'modified' | 'deleted';
}

/** Changes that a run has left in its worktree. */
interface WorktreeChanges {
  readonly changes: readonly WorktreeChange[];
  readonly patch: string;
  /** Reason why the changes may be incomplete, such as a file that cannot be read; undefined when they are complete. */
  readonly warning: string | undefined;
}

/** A working tree of a repository, for one run. It is removed with its contents. */
export interface Worktree extends AsyncDisposable {
  /** Path of the requested directory: the root of the tree, or a directory below it. */
  readonly path: string;
  /**
   * Returns the differences from the base commit, committed or not, without ignored files. Repositories created in the
   * tree are turned into plain directories.
   */
  changes(): Promise<WorktreeChanges>;
}

const STATUS: Readonly<Record<string, WorktreeChange['status']>> = { A: 'added', D: 'deleted' };

/** A worktree, and its records in the repository: its index, its commit, its lock. */
interface Place {
  readonly tree: string;
  readonly records: string;
}

/** The content of a worktree's `.git`: the path of the records. */
const LINK = /^gitdir: (.+)$/m;

/** Largest depth of nested repositories that are found. */
const MAX_NESTING = 8;

/** Longest patch, in characters. */
const MAX_PATCH = 16 * 1024 * 1024;

/**
 * Creates working trees of the commit that a repository has checked out. All are below one directory of this instance,
 * so that a successor finds those of a killed daemon.
 */
export class Worktrees implements AsyncDisposable {
  readonly #directory: string;
  readonly #git: RepositoryGit;
  #count = 0;
  /** Of changes of a repository's list of worktrees: git fails when it reads the records of one that is just being added. */
  readonly #changes = new Turns();

  /**
   * @param root parent directory
   * @param instance id of this instance of the daemon
   * @param liveness determines which worktrees were left by a killed daemon
   * @param path PATH on which git is
   */
  constructor(root: string, instance: string, liveness: LivenessMarker, path: string) {
    this.#directory = join(root, instance);
    this.#git = new RepositoryGit(path);
    sweep(root, liveness);
  }

  /**
   * Creates a worktree.
   * @param directory a repository, or a directory in one
   * @throws AdapterError BAD_DIRECTORY when there is no repository with a commit, GIT_NOT_FOUND
   */
  async make(directory: string): Promise<Worktree> {
    const where = await this.#git.run(directory, 'rev-parse', '--show-prefix', '--show-cdup');
    // A repository without a working tree has neither a prefix nor a way up.
    const [prefix = '', up = ''] = where.split('\n');
    const top = resolve(await realpath(directory), up);
    const base = await this.#commitOf(directory);
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    this.#count += 1;
    const tree = join(this.#directory, String(this.#count));
    await this.#changes.take(() =>
      this.#git.runWithoutFilters(top, 'worktree', 'add', '--quiet', '--detach', tree, base),
    );
    const [, records = ''] = LINK.exec(await readFile(join(tree, '.git'), 'utf8')) ?? [];
    return {
      path: join(tree, prefix),
      changes: () => this.#differences({ tree, records }, base),
      [Symbol.asyncDispose]: () => this.#remove({ tree, records }, top),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await removeTree(this.#directory);
  }

  /** git itself reports "Needed a single revision" for a repository without a commit. */
  async #commitOf(directory: string): Promise<string> {
    try {
      return (await this.#git.run(directory, 'rev-parse', '--verify', 'HEAD^{commit}')).trim();
    } catch (cause) {
      const detail = detailOf(cause);
      const message = `${directory} gives no worktree: no commit is checked out in it`;
      throw new AdapterError('BAD_DIRECTORY', message, { details: { directory, detail }, cause });
    }
  }

  async #differences({ tree, records }: Place, base: string): Promise<WorktreeChanges> {
    // The tree may have been emptied, or turned into one of another repository.
    await mkdir(tree, { recursive: true });
    const place = [`--git-dir=${records}`, `--work-tree=${tree}`];
    const git = (...args: readonly string[]) => this.#git.run(tree, ...place, ...args);
    await openRepositories(tree, git);
    // The index belongs to the worktree, and is removed with it. Readable files are reported even if others are not.
    const add = this.#git.runWithoutFilters(tree, ...place, 'add', '--all', '--ignore-errors');
    const warning = await add.then(() => undefined, detailOf);
    const names = (await git('diff', '--cached', '--no-renames', '--name-status', '-z', base)).split('\0');
    const changes = Array.from({ length: Math.floor(names.length / 2) }, (_, index): WorktreeChange => {
      const [letter = '', path = ''] = names.slice(2 * index, 2 * index + 2);
      return { path, status: STATUS[letter] ?? 'modified' };
    });
    const diff = [...place, 'diff', '--cached', '--no-ext-diff', '--no-textconv', '--binary', base];
    return { changes, patch: await this.#git.runUpTo(MAX_PATCH, tree, ...diff), warning };
  }

  /** Works for a tree that was locked, moved or emptied. */
  async #remove({ tree, records }: Place, repository: string): Promise<void> {
    await removeTree(tree);
    // git never prunes the records of a locked worktree.
    if (records !== '') await rm(records, { recursive: true, force: true });
    // The repository may have been removed, too.
    const prune = () => this.#git.run(repository, 'worktree', 'prune', '--expire', 'now');
    await this.#changes.take(prune).catch(() => undefined);
  }
}

/**
 * Turns repositories that a run has created in its tree into plain directories, as tools do that start a project:
 * otherwise git would report a commit for each, which is removed with the tree, or fail. Submodules are not affected:
 * the tree's own repository tracks them.
 */
async function openRepositories(tree: string, git: (...args: readonly string[]) => Promise<string>): Promise<void> {
  for (let depth = 0; depth < MAX_NESTING; depth += 1) {
    const untracked = (await git('ls-files', '--others', '--exclude-standard', '-z')).split('\0');
    // git does not descend into them.
    const repositories = untracked.filter((path) => path.endsWith('/'));
    if (repositories.length === 0) return;
    for (const path of repositories) await rm(join(tree, path, '.git'), { recursive: true, force: true });
  }
}

/** Returns the error output of git. */
function detailOf(error: unknown): string {
  if (!(error instanceof AdapterError)) throw error;
  const { detail } = error.details ?? {};
  return typeof detail === 'string' ? detail : error.message;
}

/** Removes worktrees that killed daemons have left, and their records in the repositories. */
function sweep(root: string, liveness: LivenessMarker): void {
  const instances = existsSync(root) ? readdirSync(root) : [];
  for (const instance of instances.filter((name) => !liveness.isAlive(name))) {
    const directory = join(root, instance);
    for (const name of readdirSync(directory)) forget(join(directory, name));
    removeTreeSync(directory);
  }
}

/** A worktree's `.git` names its folder in the repository, which names the worktree in turn. */
function forget(tree: string): void {
  const link = join(tree, '.git');
  const [, folder] = existsSync(link) ? (LINK.exec(readFileSync(link, 'utf8')) ?? []) : [];
  if (folder === undefined || dirname(folder).split('/').at(-1) !== 'worktrees') return;
  const back = join(folder, 'gitdir');
  // Verified in both directions: tools could write to the file.
  if (existsSync(back) && resolve(folder, readFileSync(back, 'utf8').trim()) === link) {
    rmSync(folder, { recursive: true, force: true });
  }
}

import { existsSync } from 'node:fs';

import { AdapterError } from '../../core/errors.js';

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
export class RepositoryGit {
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
